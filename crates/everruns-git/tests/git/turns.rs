//! Turns and operations that rewrite files: never both at once, and never an older one of these after a turn.

use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

use everruns_core::failpoint;
use everruns_core::ids::SessionId;
use everruns_core::workspace::{CommitRequest, WorkspaceError, WorkspaceHead};

use crate::crash::{killed, outlives};
use crate::fixture::{Scene, git, porcelain, read, write};

fn session() -> SessionId {
    SessionId::new("s").unwrap()
}

/// The head `one` with a checkpoint of `draft.txt` and a later state, and the head `two`.
async fn scene() -> (Scene, WorkspaceHead, WorkspaceHead) {
    let scene = Scene::new();
    let head = scene.head("one").await;
    let folder = scene.folder(&head);
    write(&folder.join("draft.txt"), "first\n");
    head.checkpoint().await.unwrap();
    write(&folder.join("draft.txt"), "later\n");
    let other = scene.head("two").await;
    (scene, head, other)
}

fn intents(scene: &Scene) -> usize {
    scene.state.join("intents").read_dir().unwrap().count()
}

/// The record of the operation under way on `head`.
fn intent(scene: &Scene, head: &WorkspaceHead) -> PathBuf {
    scene.state.join(format!("intents/{}.json", head.id()))
}

/// What tells whether anything has happened to the files, the index or the branch.
fn state(folder: &Path) -> (Vec<String>, String, String, Vec<u8>) {
    (
        porcelain(folder),
        git(folder, &["diff", "--binary"]),
        git(folder, &["rev-parse", "HEAD"]),
        std::fs::read(folder.join("draft.txt")).unwrap_or_default(),
    )
}

fn busy(outcome: &Result<(), WorkspaceError>, what: &str) {
    assert!(
        matches!(outcome, Err(error @ WorkspaceError::HeadBusy { .. }) if error.is_retryable()),
        "{what}: {outcome:?}"
    );
}

/// Proves H54 and H63: while a turn runs, nobody rewrites the files below it, from this process or another; what changes
/// only the index and the branch goes on.
#[tokio::test]
async fn h54_h63_no_files_are_rewritten_under_a_turn() {
    let (scene, head, other) = scene().await;
    let folder = scene.folder(&head);
    git(&scene.repository.path, &["checkout", "-q", "-b", "target"]);
    write(&scene.repository.path.join("new.txt"), "new\n");
    scene.repository.commit_all("new");
    write(&scene.folder(&other).join("work.txt"), "work\n");
    let again = WorkspaceHead::reopen(scene.reopened(), &head.binding())
        .await
        .unwrap();
    let first = head.checkpoints().await.unwrap().remove(0);
    let branch = head.descriptor().branch.clone().unwrap();

    let turn = head.hold(&session()).await.unwrap();
    let before = state(&folder);
    busy(&again.restore(&first).await.map(drop), "restore");
    busy(&again.update_from("target").await.map(drop), "update");
    busy(&other.merge_into(branch.clone()).await.map(drop), "merge");
    // Another process doesn't come as far as to record what it is about to do.
    for (operation, failpoint) in [
        ("restore", "git.restore.after-intent"),
        ("update", "git.advance.after-intent"),
    ] {
        let words = outlives(&scene, operation, failpoint);
        assert!(words.contains("a turn runs on the head"), "{words}");
    }
    assert_eq!(state(&folder), before);
    assert_eq!(intents(&scene), 0);
    again.commit(CommitRequest::new("all")).await.unwrap();
    assert_eq!(read(&folder.join("draft.txt")), "later\n");

    drop(turn);
    other.merge_into(branch).await.unwrap();
    again.update_from("target").await.unwrap();
    again.restore(&first).await.unwrap();
    assert_eq!(porcelain(&folder), ["?? draft.txt"]);
    assert_eq!(read(&folder.join("draft.txt")), "first\n");
}

/// Proves H63: no turn begins in the middle of an operation that rewrites the files, whichever head it is one of.
#[tokio::test(flavor = "multi_thread")]
async fn h63_a_turn_begins_after_what_rewrites_its_files() {
    for (operation, failpoint) in [
        ("restore", "git.restore.after-removals"),
        ("merge", "git.advance.after-files"),
    ] {
        let (scene, head, other) = scene().await;
        write(&scene.folder(&other).join("work.txt"), "work\n");
        let first = head.checkpoints().await.unwrap().remove(0);
        let again = WorkspaceHead::reopen(scene.reopened(), &head.binding())
            .await
            .unwrap();
        let branch = head.descriptor().branch.clone().unwrap();
        if operation == "merge" {
            head.commit(CommitRequest::new("all")).await.unwrap();
        }
        let (reached, at) = mpsc::channel();
        let (go, wait) = mpsc::channel::<()>();
        let wait = std::sync::Mutex::new(wait);
        failpoint::arm(failpoint, move || {
            reached.send(()).unwrap();
            wait.lock().unwrap().recv().is_ok()
        });
        let rewriting = tokio::spawn(async move {
            match operation {
                "restore" => again.restore(&first).await.map(drop),
                _ => other.merge_into(branch).await.map(drop),
            }
        });
        tokio::task::spawn_blocking(move || at.recv().unwrap())
            .await
            .unwrap();
        let folder = scene.folder(&head);
        let turn = tokio::spawn(async move {
            let turn = head.hold(&session()).await.unwrap();
            (turn, porcelain(&folder))
        });
        tokio::time::sleep(Duration::from_millis(300)).await;
        assert!(!turn.is_finished(), "{operation}: the files are half done");
        go.send(()).unwrap();
        rewriting.await.unwrap().unwrap();
        let (_turn, found) = turn.await.unwrap();
        let expected: &[&str] = match operation {
            "restore" => &["?? draft.txt"],
            _ => &[],
        };
        assert_eq!(found, expected, "{operation}");
        failpoint::disarm_all();
    }
}

/// A record that can't be read stops its own head, and no other one.
#[tokio::test]
async fn h72_an_unreadable_operation_of_one_head_stops_no_turn_of_another() {
    let (scene, head, other) = scene().await;
    for record in ["not a record", "{\"format\": 99}"] {
        std::fs::write(intent(&scene, &other), record).unwrap();
        drop(head.hold(&session()).await.unwrap());
        other.hold(&session()).await.unwrap_err();
        let report = scene.reopened().doctor(true).await.unwrap();
        let told = report.findings.iter().map(|found| found.kind.as_str());
        assert!(
            told.into_iter().any(|kind| kind == "unreadable-record"),
            "{report:?}"
        );
    }
}

/// Proves H63: a head whose record can't be read right now is not taken for nobody's, so that nothing is written under
/// its turn.
#[tokio::test]
async fn h63_h72_a_head_with_an_unreadable_record_is_still_a_head() {
    let (scene, head, other) = scene().await;
    killed(&scene, "merge-into-other", "git.advance.after-intent");
    // No turn begins while there is something to finish, so the record comes late, as from a restored backup.
    let aside = scene.root.path().join("aside");
    std::fs::rename(intent(&scene, &head), &aside).unwrap();
    let turn = other.hold(&session()).await.unwrap();
    std::fs::rename(&aside, intent(&scene, &head)).unwrap();
    let record = scene.state.join(format!(
        "heads/{}/{}.json",
        other.workspace_id(),
        other.id()
    ));
    let whole = std::fs::read(&record).unwrap();
    std::fs::write(&record, "half").unwrap();
    let before = state(&scene.folder(&other));
    head.commit(CommitRequest::new("all")).await.unwrap_err();
    scene.reopened();
    assert_eq!(state(&scene.folder(&other)), before);

    std::fs::write(&record, whole).unwrap();
    busy(
        &head.commit(CommitRequest::new("all")).await.map(drop),
        "commit",
    );
    assert_eq!(state(&scene.folder(&other)), before);
    drop(turn);
    head.commit(CommitRequest::new("all")).await.unwrap();
    assert_eq!(
        read(&scene.folder(&other).join("draft.txt")),
        "later\n",
        "the merge is finished first"
    );
}

/// What can't be finished elsewhere keeps no turn from a head whose own files are whole; what would be recorded over it
/// is refused.
#[tokio::test]
async fn h63_a_turn_runs_while_something_is_half_done_elsewhere() {
    let (scene, head, _) = scene().await;
    let project = &scene.repository.path;
    git(project, &["checkout", "-q", "-b", "target"]);
    killed(&scene, "merge", "git.advance.after-intent");
    let lock = project.join(".git/index.lock");
    std::fs::remove_file(&lock).unwrap();
    std::fs::write(&lock, "").unwrap();
    drop(head.hold(&session()).await.unwrap());
    head.commit(CommitRequest::new("all")).await.unwrap_err();
    assert_eq!(intents(&scene), 1);
    std::fs::remove_file(&lock).unwrap();
    head.commit(CommitRequest::new("all")).await.unwrap();
    assert_eq!(intents(&scene), 0);
    assert_eq!(git(project, &["show", "target:draft.txt"]), "later");
}
