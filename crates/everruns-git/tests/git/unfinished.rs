//! Operations that were cut short while another process has the head open: they are made up for before anything else
//! happens on the head, and never behind what happened since.

use std::path::Path;

use everruns_core::failpoint;
use everruns_core::ids::SessionId;
use everruns_core::workspace::{CommitRequest, WorkspaceError, WorkspaceHead};

use crate::crash::killed;
use crate::fixture::{Scene, git, porcelain, read, write};

const RESTORE: [&str; 5] = [
    "git.restore.after-intent",
    "git.restore.after-removals",
    "git.restore.after-files",
    "git.restore.after-index",
    "git.restore.after-branch",
];

fn session() -> SessionId {
    SessionId::new("s").unwrap()
}

fn intents(scene: &Scene) -> usize {
    scene.state.join("intents").read_dir().unwrap().count()
}

fn remove(path: &Path) {
    std::fs::remove_file(path).unwrap();
}

/// A head whose checkpoint has `draft.txt`, and which has `later.txt` instead now.
async fn scene() -> (Scene, WorkspaceHead) {
    let scene = Scene::new();
    let head = scene.head("one").await;
    let folder = scene.folder(&head);
    write(&folder.join("draft.txt"), "first\n");
    head.checkpoint().await.unwrap();
    remove(&folder.join("draft.txt"));
    write(&folder.join("later.txt"), "later\n");
    (scene, head)
}

/// Proves H63 for a session that is idle while another process is killed: its next turn begins on whole files, and
/// nobody changes them behind that turn.
#[tokio::test]
async fn h63_a_turn_begins_on_whole_files_and_keeps_its_work() {
    for failpoint in RESTORE {
        let (scene, head) = scene().await;
        let folder = scene.folder(&head);
        killed(&scene, "restore", failpoint);
        assert_eq!(intents(&scene), 1);
        let turn = head.hold(&session()).await.unwrap();
        assert_eq!(porcelain(&folder), ["?? draft.txt"], "{failpoint}");
        assert_eq!(intents(&scene), 0);
        write(&folder.join("draft.txt"), "of the turn\n");
        drop(turn);
        let report = scene.reopened().doctor(false).await.unwrap();
        assert!(report.findings.is_empty(), "{failpoint}: {report:?}");
        assert_eq!(read(&folder.join("draft.txt")), "of the turn\n");
    }
}

/// What is made of a head that a killed process left half changed is made of the whole.
#[tokio::test]
async fn h61_h63_nothing_is_made_of_a_half_changed_head() {
    for operation in ["fork", "commit", "merge", "reopen"] {
        let (scene, head) = scene().await;
        let folder = scene.folder(&head);
        git(&scene.repository.path, &["branch", "target"]);
        killed(&scene, "restore", "git.restore.after-removals");
        assert!(!folder.join("later.txt").exists() && !folder.join("draft.txt").exists());
        match operation {
            "fork" => {
                let fork = head.fork("two").await.unwrap();
                assert_eq!(porcelain(&scene.folder(&fork)), ["?? draft.txt"]);
            }
            "commit" => {
                let receipt = head.commit(CommitRequest::new("all")).await.unwrap();
                assert_eq!(receipt.changed, ["draft.txt"]);
            }
            "merge" => {
                head.merge_into("target").await.unwrap();
                let merged = git(&scene.repository.path, &["show", "target:draft.txt"]);
                assert_eq!(merged, "first");
            }
            _ => {
                let backend = std::sync::Arc::clone(&scene.backend);
                let again = WorkspaceHead::reopen(backend, &head.binding()).await;
                assert_eq!(again.unwrap().id(), head.id());
                assert_eq!(porcelain(&folder), ["?? draft.txt"]);
            }
        }
        assert_eq!(read(&folder.join("draft.txt")), "first\n", "{operation}");
        assert_eq!(intents(&scene), 0, "{operation}");
    }
}

/// What was half done to the user's own worktree is not forgotten because the head goes on.
#[tokio::test]
async fn h60_a_killed_merge_is_finished_before_the_head_goes_on() {
    for failpoint in ["git.advance.after-intent", "git.advance.after-files"] {
        let scene = Scene::new();
        let project = &scene.repository.path;
        git(project, &["checkout", "-q", "-b", "target"]);
        let head = scene.head("one").await;
        write(&scene.folder(&head).join("work.txt"), "work\n");
        killed(&scene, "merge", failpoint);
        write(&scene.folder(&head).join("more.txt"), "more\n");
        head.commit(CommitRequest::new("more")).await.unwrap();
        assert_eq!(intents(&scene), 0, "{failpoint}");
        assert!(porcelain(project).is_empty(), "{failpoint}");
        assert_eq!(read(&project.join("work.txt")), "work\n");
        assert_eq!(git(project, &["show", "target:work.txt"]), "work");
    }
}

/// Merging into a branch that another head has changes that head's files: its next turn begins on whole ones, too.
#[tokio::test]
async fn h63_a_turn_waits_for_what_another_head_began() {
    let scene = Scene::new();
    let head = scene.head("one").await;
    let other = scene.head("two").await;
    write(&scene.folder(&head).join("work.txt"), "work\n");
    killed(&scene, "merge-into-other", "git.advance.after-files");
    assert_eq!(intents(&scene), 1);
    let turn = other.hold(&session()).await.unwrap();
    assert_eq!(intents(&scene), 0);
    assert!(porcelain(&scene.folder(&other)).is_empty());
    assert_eq!(read(&scene.folder(&other).join("work.txt")), "work\n");
    drop(turn);
}

/// Proves H63 and H74: while what was half done can't be made up for, no turn runs and nothing is made of the head; the
/// error is typed, and what blocks it can be taken away.
#[tokio::test]
async fn h63_h74_no_turn_runs_on_files_that_cant_be_made_whole() {
    let (scene, head) = scene().await;
    let folder = scene.folder(&head);
    write(&folder.join(".gitignore"), "*.log\n");
    let first = head.checkpoints().await.unwrap().remove(0);
    let before = porcelain(&folder);
    failpoint::arm("git.restore.after-files", || false);
    failpoint::arm("git.restore.before-undo", || false);
    let failure = head.restore(&first).await.unwrap_err();
    failpoint::disarm_all();
    let unfinished = |error: &WorkspaceError| matches!(error, WorkspaceError::HeadUnfinished { head: of, .. } if of == head.id());
    assert!(unfinished(&failure), "{failure:?}");
    assert!(!folder.join("later.txt").exists());

    // Git ignores it, so that it is nobody's to remove.
    write(&folder.join("later.txt/own.log"), "mine\n");
    let refused = [
        head.hold(&session()).await.map(drop),
        head.fork("fork").await.map(drop),
        head.commit(CommitRequest::new("half")).await.map(drop),
        head.merge_into("main").await.map(drop),
        head.update_from("main").await.map(drop),
    ];
    for outcome in refused {
        let error = outcome.unwrap_err();
        assert!(unfinished(&error), "{error:?}");
        assert!(!error.is_retryable());
    }
    assert_eq!(read(&folder.join("later.txt/own.log")), "mine\n");
    assert_eq!(intents(&scene), 1);

    std::fs::remove_dir_all(folder.join("later.txt")).unwrap();
    drop(head.hold(&session()).await.unwrap());
    assert_eq!(porcelain(&folder), before);
    assert_eq!(intents(&scene), 0);
    head.restore(&first).await.unwrap();
    assert_eq!(porcelain(&folder), ["?? draft.txt"]);
}
