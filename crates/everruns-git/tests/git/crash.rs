//! Processes killed between any two steps.
//!
//! A test runs itself again as a child, which arms a failpoint with SIGKILL and starts an operation.

use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::sync::Arc;

use everruns_core::failpoint;
use everruns_core::workspace::{Workspace, WorkspaceBackend, WorkspaceError, WorkspaceHead};

use crate::fixture::{Repository, Scene, backend, git, porcelain, read, snapshot, try_git, write};
use crate::packs::work;

const OPERATION: &str = "EVERRUNS_GIT_TEST_OPERATION";
const FAILPOINT: &str = "EVERRUNS_GIT_TEST_FAILPOINT";
const STATE: &str = "EVERRUNS_GIT_TEST_STATE";
const LOCATOR: &str = "EVERRUNS_GIT_TEST_LOCATOR";

/// Runs `operation` on the head named `one` in a child that is killed at `failpoint`.
pub(crate) fn killed(scene: &Scene, operation: &str, failpoint: &str) {
    let (status, words) = child_of(scene, operation, failpoint);
    assert_eq!(
        status.signal(),
        Some(9),
        "{operation} reaches {failpoint}: {words}"
    );
}

/// The same for a child that fails before it comes as far; what it says.
pub(crate) fn outlives(scene: &Scene, operation: &str, failpoint: &str) -> String {
    let (status, words) = child_of(scene, operation, failpoint);
    assert!(
        status.signal().is_none() && !status.success(),
        "{operation} fails before {failpoint}: {words}"
    );
    words
}

#[expect(
    clippy::disallowed_methods,
    reason = "the child to be killed is this test binary itself"
)]
fn child_of(scene: &Scene, operation: &str, failpoint: &str) -> (ExitStatus, String) {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["crash::child", "--exact", "--nocapture"])
        .env(OPERATION, operation)
        .env(FAILPOINT, failpoint)
        .env(STATE, &scene.state)
        .env(LOCATOR, &scene.repository.path)
        .output()
        .unwrap();
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status, words)
}

/// Not a test of its own: what the children of the others run.
#[tokio::test]
async fn child() {
    let Some(failpoint) = std::env::var_os(FAILPOINT) else {
        return;
    };
    failpoint::arm(failpoint.to_str().unwrap(), || {
        let own = rustix::process::getpid();
        rustix::process::kill_process(own, rustix::process::Signal::KILL).unwrap();
        true
    });
    let path = |name: &str| std::env::var(name).unwrap();
    let workspace = Workspace::open(backend(Path::new(&path(STATE))), path(LOCATOR))
        .await
        .unwrap();
    let one = async || named(&workspace, "one").await;
    match path(OPERATION).as_str() {
        "create" => drop(workspace.head("new").create().await.unwrap()),
        "fork" => drop(one().await.fork("new").await.unwrap()),
        "checkpoint" => drop(one().await.checkpoint().await.unwrap()),
        "restore" => {
            let head = one().await;
            let first = head.checkpoints().await.unwrap().remove(0);
            drop(head.restore(&first).await.unwrap());
        }
        "merge" => drop(one().await.merge_into("target").await.unwrap()),
        "merge-into-other" => {
            let branch = named(&workspace, "two").await.descriptor().branch.clone();
            drop(one().await.merge_into(branch.unwrap()).await.unwrap());
        }
        "update" => drop(one().await.update_from("target").await.unwrap()),
        "prune" => drop(one().await.prune_checkpoints(1).await.unwrap()),
        "destroy" => drop(one().await.destroy().await.unwrap()),
        other => panic!("{other}"),
    }
}

async fn named(workspace: &Workspace, name: &str) -> WorkspaceHead {
    named_or_error(workspace, name).await.unwrap()
}

async fn named_or_error(
    workspace: &Workspace,
    name: &str,
) -> Result<WorkspaceHead, WorkspaceError> {
    let heads = workspace.heads().await?;
    let head = heads
        .iter()
        .find(|head| head.name.as_str() == name)
        .unwrap();
    workspace.open_head(&head.id).await
}

async fn workspace(scene: &Scene, backend: Arc<dyn WorkspaceBackend>) -> Workspace {
    Workspace::open(backend, scene.repository.path.to_str().unwrap())
        .await
        .unwrap()
}

fn count(folder: &Path) -> usize {
    std::fs::read_dir(folder).unwrap().count()
}

const CREATE: [&str; 8] = [
    "git.create.after-intent",
    "git.create.after-name",
    "git.create.after-branch",
    "git.create.after-record",
    "git.create.after-checkout",
    "git.create.after-index",
    "git.create.after-ignored",
    "git.create.after-ready",
];

/// Proves H60: finished, or as if it had never begun.
#[tokio::test]
async fn h60_a_killed_create_is_finished_or_rolled_back() {
    for failpoint in CREATE {
        let scene = Scene::new();
        workspace(&scene, scene.reopened()).await;
        let before = snapshot(&scene.repository.path);
        killed(&scene, "create", failpoint);
        let workspace = workspace(&scene, scene.reopened()).await;
        let heads = workspace.heads().await.unwrap();
        let project = &scene.repository.path;
        let worktrees = git(project, &["worktree", "list"]).lines().count();
        let branches = git(project, &["branch", "--list", "everruns/*"])
            .lines()
            .count();
        let finished = usize::from(failpoint == "git.create.after-ready");
        assert_eq!(
            (heads.len(), worktrees, branches),
            (finished, 1 + finished, finished),
            "{failpoint}"
        );
        assert_eq!(count(&scene.state.join("intents")), 0, "{failpoint}");
        let folders = scene.state.join("worktrees").join(workspace.id().as_str());
        assert_eq!(count(&folders), finished, "{failpoint}");
        assert_eq!(snapshot(project), before, "{failpoint}");
        if finished == 0 {
            assert!(!scene.state.join("locks").read_dir().unwrap().any(|lock| {
                lock.unwrap()
                    .file_name()
                    .to_str()
                    .unwrap()
                    .starts_with("head_")
            }));
            workspace.head("new").create().await.unwrap();
        } else {
            let head = named(&workspace, "new").await;
            assert!(porcelain(&scene.folder(&head)).is_empty());
        }
    }
}

/// H60 for a head on a branch that is still to be born.
#[tokio::test]
async fn h60_a_killed_create_in_an_empty_repository_leaves_nothing() {
    for failpoint in CREATE {
        let root = tempfile::tempdir().unwrap();
        let repository = Repository::empty(&root.path().join("project"));
        let scene = Scene::around(root, repository);
        let project = &scene.repository.path;
        let before = snapshot(project);
        killed(&scene, "create", failpoint);
        let workspace = workspace(&scene, scene.reopened()).await;
        let finished = usize::from(failpoint == "git.create.after-ready");
        assert_eq!(
            workspace.heads().await.unwrap().len(),
            finished,
            "{failpoint}"
        );
        let worktrees = git(project, &["worktree", "list"]).lines().count();
        assert_eq!(worktrees, 1 + finished, "{failpoint}");
        assert_eq!(snapshot(project), before, "{failpoint}");
        assert_eq!(count(&scene.state.join("intents")), 0, "{failpoint}");
        if finished == 0 {
            workspace.head("new").create().await.unwrap();
        }
    }
}

/// Proves H61: the source is whole, and nothing is left of the fork.
#[tokio::test]
async fn h61_a_killed_fork_leaves_the_source_whole() {
    for failpoint in CREATE {
        let scene = Scene::new();
        let head = scene.head("one").await;
        let folder = scene.folder(&head);
        write(&folder.join("work.txt"), "work\n");
        let status = porcelain(&folder);
        killed(&scene, "fork", failpoint);
        let workspace = workspace(&scene, scene.reopened()).await;
        assert_eq!(porcelain(&folder), status);
        let finished = usize::from(failpoint == "git.create.after-ready");
        assert_eq!(
            workspace.heads().await.unwrap().len(),
            1 + finished,
            "{failpoint}"
        );
        if finished == 0 {
            let fork = named(&workspace, "one").await.fork("new").await.unwrap();
            assert_eq!(porcelain(&scene.folder(&fork)), status);
        }
    }
}

/// Proves H62: the checkpoint before or the new one, and the head as it was.
#[tokio::test]
async fn h62_a_killed_checkpoint_is_there_or_not() {
    let points = [
        "git.checkpoint.after-trees",
        "git.objects.after-pack",
        "git.objects.after-index",
        "git.checkpoint.after-commit",
        "git.checkpoint.after-flush",
        "git.checkpoint.after-reference",
    ];
    for failpoint in points {
        let scene = Scene::new();
        let head = scene.head("one").await;
        let folder = scene.folder(&head);
        head.checkpoint().await.unwrap();
        write(&folder.join("work.txt"), "work\n");
        if failpoint.starts_with("git.objects") {
            work(&folder, 120);
        }
        let status = porcelain(&folder);
        killed(&scene, "checkpoint", failpoint);
        let workspace = workspace(&scene, scene.reopened()).await;
        let again = named(&workspace, "one").await;
        let kept = again.checkpoints().await.unwrap().len();
        assert_eq!(
            kept,
            1 + usize::from(failpoint == "git.checkpoint.after-reference"),
            "{failpoint}"
        );
        assert_eq!(porcelain(&folder), status);
        let taken = again.checkpoint().await.unwrap();
        assert_eq!(taken.number, 2);
        git(&folder, &["fsck", "--strict"]);
    }
}

/// Proves H63: the restore is finished at the next open; what was there before is kept.
#[tokio::test]
async fn h63_a_killed_restore_is_finished() {
    let points = [
        "git.restore.after-checkpoint",
        "git.restore.after-intent",
        "git.restore.after-removals",
        "git.restore.after-files",
        "git.restore.after-index",
        "git.restore.after-branch",
        "git.index.after-lock",
        "git.index.after-temporary",
        "git.index.after-replacement",
    ];
    for failpoint in points {
        let scene = Scene::new();
        let head = scene.head("one").await;
        let folder = scene.folder(&head);
        write(&folder.join("draft.txt"), "first\n");
        head.checkpoint().await.unwrap();
        git(&folder, &["add", "."]);
        git(&folder, &["commit", "-qm", "later"]);
        write(&folder.join("README.md"), "later\n");
        write(&folder.join("later.txt"), "later\n");
        write(&folder.join("noise.log"), "ignored\n");
        killed(&scene, "restore", failpoint);
        let workspace = workspace(&scene, scene.reopened()).await;
        let again = named(&workspace, "one").await;
        if failpoint == "git.restore.after-checkpoint" {
            assert_eq!(
                porcelain(&folder),
                [" M README.md", "?? later.txt"],
                "it had not begun"
            );
        } else {
            assert_eq!(porcelain(&folder), ["?? draft.txt"], "{failpoint}");
            assert_eq!(git(&folder, &["rev-parse", "HEAD"]), again.base());
        }
        assert_eq!(read(&folder.join("noise.log")), "ignored\n");
        assert!(locks(&scene.repository.path.join(".git")).is_empty());
        assert_eq!(count(&scene.state.join("intents")), 0);
        let before = again.checkpoints().await.unwrap().remove(1);
        again.restore(&before).await.unwrap();
        assert_eq!(porcelain(&folder), [" M README.md", "?? later.txt"]);
        assert_eq!(read(&folder.join("README.md")), "later\n");
    }
}

/// A killed restore is not finished under a turn that runs on the head now, but once that has ended. No turn begins
/// while there is one to finish, so the record of it comes late here, as from a restored backup.
#[tokio::test]
async fn h63_a_killed_restore_is_not_finished_under_a_session() {
    let scene = Scene::new();
    let head = scene.head("one").await;
    let folder = scene.folder(&head);
    write(&folder.join("draft.txt"), "first\n");
    head.checkpoint().await.unwrap();
    write(&folder.join("later.txt"), "later\n");
    killed(&scene, "restore", "git.restore.after-intent");
    let session = everruns_core::ids::SessionId::new("s").unwrap();
    let intent = scene.state.join(format!("intents/{}.json", head.id()));
    let aside = scene.root.path().join("aside");
    std::fs::rename(&intent, &aside).unwrap();
    let turn = head.hold(&session).await.unwrap();
    std::fs::rename(&aside, &intent).unwrap();
    let before = (porcelain(&folder), folder.join("later.txt").exists());
    let backend = scene.reopened();
    for repair in [false, true] {
        let found = backend.doctor(repair).await.unwrap().findings;
        let told = found.iter().map(|found| {
            (
                found.kind.as_str(),
                found.subject.as_str(),
                found.repairable || found.repaired,
            )
        });
        let operation = ("interrupted-operation", head.id().as_str(), false);
        assert!(told.into_iter().any(|told| told == operation), "{found:?}");
        let now = (porcelain(&folder), folder.join("later.txt").exists());
        assert_eq!(now, before, "nothing changes under the turn");
    }
    drop(turn);
    let report = scene.reopened().doctor(false).await.unwrap();
    assert!(report.findings.is_empty(), "{report:?}");
    assert_eq!(porcelain(&folder), ["?? draft.txt"]);
}

/// Proves H64: work is under a reference before anything goes, and the destruction is finished.
#[tokio::test]
async fn h64_a_killed_destroy_loses_nothing() {
    let points = [
        "git.destroy.after-preparation",
        "git.destroy.after-intent",
        "git.destroy.after-aside",
        "git.destroy.after-checkpoint",
        "git.destroy.after-references",
        "git.destroy.after-move",
        "git.destroy.after-record",
        "git.destroy.after-state",
        "git.destroy.after-clear",
    ];
    for failpoint in points {
        let scene = Scene::new();
        let head = scene.head("one").await;
        let folder = scene.folder(&head);
        write(&folder.join("work.txt"), "work\n");
        let before = snapshot(&scene.repository.path);
        killed(&scene, "destroy", failpoint);
        assert!(
            is_kept_or_there(&scene, &head, "work.txt"),
            "{failpoint}: before anything is reopened"
        );
        let project = &scene.repository.path;
        let workspace = workspace(&scene, scene.reopened()).await;
        if failpoint == "git.destroy.after-preparation" {
            assert!(folder.exists());
            named(&workspace, "one").await.destroy().await.unwrap();
        }
        assert!(!folder.exists(), "{failpoint}");
        let kept = head.destroy().await.unwrap().kept_ref.unwrap();
        assert_eq!(
            git(project, &["show", &format!("{kept}:work.txt")]),
            "work",
            "{failpoint}"
        );
        assert_eq!(git(project, &["worktree", "list"]).lines().count(), 1);
        assert_eq!(count(&scene.state.join("intents")), 0);
        scene.trash_is_emptied().await;
        assert_eq!(snapshot(project), before);
        workspace.head("one").create().await.unwrap();
    }
}

/// Whether `name` is in the head's folder, wherever that is on its way, or under a reference of ours.
fn is_kept_or_there(scene: &Scene, head: &WorkspaceHead, name: &str) -> bool {
    let aside = scene.state.join("leaving").join(head.id().as_str());
    let project = &scene.repository.path;
    let refs = git(
        project,
        &["for-each-ref", "--format=%(refname)", "refs/everruns"],
    );
    let is_in = |kept: &str| {
        let file = format!("{kept}:{name}");
        try_git(project, &["cat-file", "-e", &file])
            .status
            .success()
    };
    let folders = [scene.folder(head), aside];
    folders.iter().any(|folder| folder.join(name).exists()) || refs.lines().any(is_in)
}

/// Proves H64 for what is written between the kill and the next open: it is kept like all other work.
#[tokio::test]
async fn h64_what_is_written_after_a_killed_destroy_is_kept() {
    let points = [
        "git.destroy.after-intent",
        "git.destroy.after-aside",
        "git.checkpoint.after-commit",
        "git.destroy.after-checkpoint",
        "git.destroy.after-references",
    ];
    for (number, failpoint) in points.into_iter().enumerate() {
        for uncommitted in [false, true] {
            let what = format!("{failpoint}, uncommitted: {uncommitted}");
            let scene = Scene::new();
            let project = &scene.repository.path;
            let head = scene.head("one").await;
            let folder = scene.folder(&head);
            if uncommitted {
                write(&folder.join("work.txt"), "work\n");
            } else if failpoint.starts_with("git.checkpoint") {
                continue;
            }
            killed(&scene, "destroy", failpoint);
            let aside = scene.state.join("leaving").join(head.id().as_str());
            let now = if number == 0 { &folder } else { &aside };
            write(&now.join("loose.txt"), "loose\n");
            write(&now.join("README.md"), "changed\n");
            scene.reopened();
            assert!(!folder.exists() && !aside.exists(), "{what}");
            let kept = head.destroy().await.unwrap().kept_ref.unwrap();
            for (name, content) in [("loose.txt", "loose"), ("README.md", "changed")] {
                let found = git(project, &["show", &format!("{kept}:{name}")]);
                assert_eq!(found, content, "{what}");
            }
            let has_work = try_git(project, &["cat-file", "-e", &format!("{kept}:work.txt")]);
            assert_eq!(has_work.status.success(), uncommitted, "{what}");
            let report = scene.reopened().doctor(false).await.unwrap();
            let findings = report.findings.iter();
            let others: Vec<_> = findings.filter(|found| found.kind != "trash").collect();
            assert!(others.is_empty(), "{what}: {others:?}");
        }
    }
}

/// H64: where the folder was there is something else by now. Both stay until that has gone, and then the end is the same.
#[tokio::test]
async fn h64_a_killed_destroy_waits_for_who_took_the_folders_place() {
    let scene = Scene::new();
    let project = &scene.repository.path;
    let head = scene.head("one").await;
    let folder = scene.folder(&head);
    write(&folder.join("work.txt"), "work\n");
    killed(&scene, "destroy", "git.destroy.after-aside");
    let aside = scene.state.join("leaving").join(head.id().as_str());
    write(&folder.join("target/output.txt"), "a build went on\n");
    let workspace = workspace(&scene, scene.reopened()).await;
    assert!(named_or_error(&workspace, "one").await.is_err());
    assert!(head.destroy().await.is_err());
    assert!(folder.join("target/output.txt").exists());
    assert!(aside.join("work.txt").exists());
    std::fs::remove_dir_all(&folder).unwrap();
    scene.reopened();
    assert!(!folder.exists() && !aside.exists());
    let kept = head.destroy().await.unwrap().kept_ref.unwrap();
    assert_eq!(git(project, &["show", &format!("{kept}:work.txt")]), "work");
}

/// H64: what nobody can keep, made between the kill and the next open, takes the destruction back.
#[tokio::test]
async fn h64_a_killed_destroy_is_taken_back_for_a_repository_made_since() {
    for failpoint in ["git.destroy.after-intent", "git.destroy.after-references"] {
        let scene = Scene::new();
        let head = scene.head("one").await;
        let folder = scene.folder(&head);
        write(&folder.join("work.txt"), "work\n");
        killed(&scene, "destroy", failpoint);
        let aside = scene.state.join("leaving").join(head.id().as_str());
        let now = if folder.exists() { &folder } else { &aside };
        Repository::small(&now.join("nested"));
        let workspace = workspace(&scene, scene.reopened()).await;
        let again = named(&workspace, "one").await;
        assert!(again.status().await.unwrap().dirty, "{failpoint}");
        assert_eq!(read(&folder.join("work.txt")), "work\n", "{failpoint}");
        assert!(folder.join("nested/README.md").exists(), "{failpoint}");
        assert_eq!(count(&scene.state.join("intents")), 0, "{failpoint}");
        assert!(again.destroy().await.is_err(), "{failpoint}");
        std::fs::remove_dir_all(folder.join("nested")).unwrap();
        again.destroy().await.unwrap();
        assert!(!folder.exists() && !aside.exists(), "{failpoint}");
    }
}

/// Every file of a repository that keeps others from a reference.
fn locks(git_dir: &Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    let mut waiting = vec![git_dir.to_owned()];
    while let Some(folder) = waiting.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                waiting.push(path);
            } else if path.extension().is_some_and(|end| end == "lock") {
                found.push(path);
            }
        }
    }
    found
}

/// A killed forgetting of checkpoints has forgotten some, or all that it was to; the others are whole.
#[tokio::test]
async fn h62_a_killed_prune_forgets_nothing_else() {
    let points = [
        "git.prune.after-needed",
        "git.prune.after-choice",
        "git.refs.after-locks",
        "git.refs.after-packed-lock",
        "git.refs.after-packed",
        "git.refs.after-loose",
        "git.refs.after-deletion",
        "git.prune.after-references",
    ];
    for failpoint in points {
        let scene = Scene::new();
        let project = &scene.repository.path;
        let head = scene.head("one").await;
        let folder = scene.folder(&head);
        for number in 1..=6 {
            write(&folder.join("work.txt"), &format!("{number}\n"));
            head.checkpoint().await.unwrap();
            if number == 3 {
                // Some are packed, some are both, and some are not.
                git(project, &["pack-refs", "--all"]);
                git(project, &["pack-refs", "--all", "--no-prune"]);
            }
        }
        let before = head.checkpoints().await.unwrap();
        let references = git(project, &["for-each-ref", "refs/heads", "refs/tags"]);
        let status = porcelain(&folder);
        killed(&scene, "prune", failpoint);
        let workspace = workspace(&scene, scene.reopened()).await;
        assert_eq!(
            locks(&project.join(".git")),
            [""; 0].map(std::path::PathBuf::from),
            "{failpoint}"
        );
        let again = named(&workspace, "one").await;
        let left = again.checkpoints().await.unwrap();
        assert_eq!(left.last(), before.last(), "{failpoint}");
        let had_begun = points.iter().position(|point| *point == failpoint) > Some(3);
        assert_eq!(left.len() < 6, had_begun, "{failpoint}: {}", left.len());
        assert!(left.iter().all(|kept| before.contains(kept)), "{failpoint}");
        assert_eq!(again.prune_checkpoints(1).await.unwrap().kept, 1);
        assert_eq!(again.checkpoints().await.unwrap(), before[5..]);
        assert_eq!(porcelain(&folder), status, "{failpoint}");
        let now = git(project, &["for-each-ref", "refs/heads", "refs/tags"]);
        assert_eq!(now, references, "{failpoint}");
        git(project, &["fsck", "--strict"]);
        git(project, &["pack-refs", "--all"]);
        let report = scene.reopened().doctor(false).await.unwrap();
        assert!(report.findings.is_empty(), "{failpoint}: {report:?}");
    }
}

/// A process killed while it holds the lock of a reference leaves nothing that keeps anybody from it.
#[tokio::test]
async fn h60_h62_locks_of_killed_processes_go() {
    let points = [
        "git.refs.after-lock",
        "git.refs.after-log",
        "git.refs.after-replacement",
    ];
    let operations = ["create", "checkpoint", "merge"];
    let all = operations
        .into_iter()
        .flat_map(|operation| points.map(|point| (operation, point)));
    for (number, (operation, failpoint)) in all.enumerate() {
        let scene = Scene::new();
        let project = &scene.repository.path;
        git(project, &["branch", "target"]);
        let head = scene.head("one").await;
        write(&scene.folder(&head).join("work.txt"), "work\n");
        killed(&scene, operation, failpoint);
        let what = format!("{operation} at {failpoint}");
        assert!(!locks(&project.join(".git")).is_empty(), "{what}");
        let found = scene.backend.doctor(false).await.unwrap().findings;
        let told = found
            .iter()
            .any(|found| found.kind == "stale-reference-lock" && found.repairable);
        assert!(told, "{what}: {found:?}");
        if number % 2 == 0 {
            scene.reopened();
            assert!(locks(&project.join(".git")).is_empty(), "{what}");
        }
        // Without it, the next operation on the reference puts the lock aside.
        let head = named(&scene.workspace().await, "one").await;
        if operation == "merge" {
            head.merge_into("target").await.unwrap();
        } else {
            head.checkpoint().await.unwrap();
        }
        scene.reopened();
        assert!(locks(&project.join(".git")).is_empty(), "{what}");
        let found = scene.reopened().doctor(false).await.unwrap().findings;
        assert!(found.is_empty(), "{what}: {found:?}");
        git(project, &["fsck", "--strict"]);
        git(project, &["gc", "-q"]);
    }
}

/// A killed merge has moved the branch or not, and can be done again.
#[tokio::test]
async fn a_killed_merge_leaves_the_branch_where_it_was() {
    for failpoint in [
        "git.merge.after-work",
        "git.merge.after-commit",
        "git.merge.after-flush",
    ] {
        let scene = Scene::new();
        let project = &scene.repository.path;
        git(project, &["branch", "target"]);
        let head = scene.head("one").await;
        let folder = scene.folder(&head);
        write(&folder.join("work.txt"), "work\n");
        let before = snapshot(project);
        killed(&scene, "merge", failpoint);
        assert_eq!(snapshot(project), before, "{failpoint}");
        assert_eq!(porcelain(&folder), ["?? work.txt"]);
        let workspace = workspace(&scene, scene.reopened()).await;
        named(&workspace, "one")
            .await
            .merge_into("target")
            .await
            .unwrap();
        assert_eq!(git(project, &["show", "target:work.txt"]), "work");
    }
}

/// What is still under way elsewhere is not recovered from under it.
#[tokio::test]
async fn an_operation_under_way_is_left_alone() {
    let scene = Scene::new();
    let state = scene.state.clone();
    failpoint::arm("git.create.after-checkout", move || {
        drop(backend(&state));
        true
    });
    let head = scene.head("one").await;
    failpoint::disarm_all();
    assert!(porcelain(&scene.folder(&head)).is_empty());
    assert_eq!(scene.workspace().await.heads().await.unwrap().len(), 1);
}

/// A step that fails, rather than its process dying, leaves nothing either.
#[tokio::test]
async fn a_failed_create_leaves_nothing() {
    for failpoint in &CREATE[..7] {
        let scene = Scene::new();
        let workspace = scene.workspace().await;
        let before = snapshot(&scene.repository.path);
        failpoint::arm(*failpoint, || false);
        let failure = workspace.head("new").create().await.unwrap_err();
        assert!(matches!(failure, WorkspaceError::Failpoint(_)), "{failure}");
        failpoint::disarm_all();
        assert!(workspace.heads().await.unwrap().is_empty());
        assert_eq!(snapshot(&scene.repository.path), before);
        assert_eq!(
            git(&scene.repository.path, &["worktree", "list"])
                .lines()
                .count(),
            1
        );
        assert!(git(&scene.repository.path, &["branch", "--list", "everruns/*"]).is_empty());
        workspace.head("new").create().await.unwrap();
    }
}
