//! Records and flushes that fail, and what is flushed before a record goes: nobody is told of a failure that comes true
//! later.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use everruns_core::failpoint;
use everruns_core::ids::SessionId;
use everruns_core::workspace::{CommitRequest, WorkspaceError, WorkspaceHead};
use everruns_testkit::disks::SmallDisk;
use tempfile::TempDir;
use tracing::field::{Field, Visit};
use tracing::{Event, Metadata, Subscriber, span};

use crate::fixture::{Repository, Scene, git, porcelain, read, write};

fn session() -> SessionId {
    SessionId::new("s").unwrap()
}

/// A head with a checkpoint of `draft.txt` on its first commit, and then another commit and another draft.
async fn around(scene: Scene) -> (Scene, WorkspaceHead) {
    let head = scene.head("one").await;
    let folder = scene.folder(&head);
    write(&folder.join("draft.txt"), "first\n");
    head.checkpoint().await.unwrap();
    write(&folder.join("deep/below.txt"), "below\n");
    git(&folder, &["add", "deep"]);
    git(&folder, &["commit", "-qm", "later"]);
    write(&folder.join("draft.txt"), "later\n");
    (scene, head)
}

fn intents(scene: &Scene) -> usize {
    scene.state.join("intents").read_dir().unwrap().count()
}

fn unfinished(outcome: &Result<(), WorkspaceError>, what: &str) {
    assert!(
        matches!(outcome, Err(WorkspaceError::HeadUnfinished { .. })),
        "{what}: {outcome:?}"
    );
}

/// Proves H63 and H74: where not even the record of a restore that can't be undone could be written anew, the restore
/// goes back nevertheless, as its caller was told.
#[tokio::test]
async fn h63_h74_a_restore_that_failed_on_a_full_disk_does_not_happen_later() {
    let Some(disk) = SmallDisk::mount(4096) else {
        return;
    };
    let root = TempDir::new_in(disk.folder()).unwrap();
    let repository = Repository::small(&root.path().join("project"));
    let (scene, head) = around(Scene::around(root, repository)).await;
    let folder = scene.folder(&head);
    let first = head.checkpoints().await.unwrap().remove(0);
    let commit = git(&folder, &["rev-parse", "HEAD"]);
    let disk = Arc::new(disk);
    let filled = Arc::clone(&disk);
    failpoint::arm("git.restore.after-files", move || {
        filled.fill(0);
        false
    });
    failpoint::arm("git.restore.before-undo", || false);
    unfinished(&head.restore(&first).await.map(drop), "restore");
    failpoint::disarm_all();
    assert_eq!(read(&folder.join("draft.txt")), "first\n");
    assert_eq!(intents(&scene), 1);

    disk.free();
    head.prune_checkpoints(0).await.unwrap();
    drop(head.hold(&session()).await.unwrap());
    assert_eq!(intents(&scene), 0);
    assert_eq!(read(&folder.join("draft.txt")), "later\n");
    assert_eq!(read(&folder.join("deep/below.txt")), "below\n");
    assert_eq!(git(&folder, &["rev-parse", "HEAD"]), commit);
    head.checkpoint().await.unwrap();
}

/// Runs the operation.
async fn run(operation: &str, head: &WorkspaceHead) -> Result<(), WorkspaceError> {
    match operation {
        "restore" => {
            let first = head.checkpoints().await?.remove(0);
            head.restore(&first).await.map(drop)
        }
        "commit" => head.commit(CommitRequest::new("all")).await.map(drop),
        _ => head.destroy().await.map(drop),
    }
}

/// Proves H74: an operation whose record failed to be written, so that it may be there or not, has not begun; and where
/// that can't be made sure, it says so.
#[tokio::test]
async fn h74_an_operation_whose_record_failed_does_not_happen_later() {
    for operation in ["restore", "commit", "destroy"] {
        let (scene, head) = around(Scene::new()).await;
        let folder = scene.folder(&head);
        let before = (porcelain(&folder), git(&folder, &["rev-parse", "HEAD"]));
        failpoint::arm("git.intent.after-save", || false);
        let failure = run(operation, &head).await.unwrap_err();
        failpoint::disarm_all();
        assert!(
            matches!(failure, WorkspaceError::Failpoint(_)),
            "{failure:?}"
        );
        assert_eq!(intents(&scene), 0, "{operation}");
        scene.reopened();
        drop(head.hold(&session()).await.unwrap());
        let after = (porcelain(&folder), git(&folder, &["rev-parse", "HEAD"]));
        assert_eq!(after, before, "{operation}");

        let record: PathBuf = scene.state.join(format!("intents/{}.json", head.id()));
        let aside = record.clone();
        failpoint::arm("git.intent.after-save", move || {
            // What can't be removed.
            std::fs::remove_file(&aside).unwrap();
            write(&aside.join("inside"), "");
            false
        });
        unfinished(&run(operation, &head).await, operation);
        failpoint::disarm_all();
        std::fs::remove_dir_all(&record).unwrap();
        let after = (porcelain(&folder), git(&folder, &["rev-parse", "HEAD"]));
        assert_eq!(after, before, "{operation}");
        run(operation, &head).await.unwrap();
    }
}

/// A commit whose branch has moved has happened, whatever failed then: it is no plain failure, and the next turn finds it
/// finished.
#[tokio::test]
async fn h74_a_commit_that_failed_after_its_branch_moved_is_told_as_unfinished() {
    let (scene, head) = around(Scene::new()).await;
    let folder = scene.folder(&head);
    failpoint::arm("git.advance.after-branch", || false);
    let outcome = head.commit(CommitRequest::new("all")).await.map(drop);
    failpoint::disarm_all();
    unfinished(&outcome, "commit");
    assert_eq!(git(&folder, &["show", "HEAD:draft.txt"]), "later");
    assert_eq!(intents(&scene), 1);
    drop(head.hold(&session()).await.unwrap());
    assert_eq!(intents(&scene), 0);
    assert!(porcelain(&folder).is_empty());
}

/// What has been told of flushes.
static TOLD: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Listens to what is told of flushes.
struct Listener;

impl Subscriber for Listener {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "everruns_git::flush"
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, event: &Event<'_>) {
        event.record(&mut Words);
    }

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}

struct Words;

impl Visit for Words {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        if field.name() == "message" {
            TOLD.lock().unwrap().push(format!("{value:?}"));
        }
    }
}

/// Before the record of an operation goes, the names of the files and the branch are on the disk.
#[tokio::test]
async fn h63_names_are_on_the_disk_before_the_record_goes() {
    tracing::subscriber::set_global_default(Listener).unwrap();
    let (scene, head) = around(Scene::new()).await;
    let other = scene.head("two").await;
    for (operation, from) in [
        ("restore", "git.restore.after-files"),
        ("merge", "git.advance.after-removals"),
    ] {
        failpoint::arm(from, || {
            TOLD.lock().unwrap().clear();
            true
        });
        if operation == "restore" {
            run("restore", &head).await.unwrap();
        } else {
            let branch = other.descriptor().branch.clone().unwrap();
            head.merge_into(branch).await.unwrap();
        }
        failpoint::disarm_all();
        let told = TOLD.lock().unwrap().clone();
        let at = |what: &str| told.iter().position(|told| told == what);
        let names = at("the names of the files are on the disk").expect(operation);
        let branch = at("the reference is on the disk").expect(operation);
        assert!(names < branch, "{told:?}");
    }
}
