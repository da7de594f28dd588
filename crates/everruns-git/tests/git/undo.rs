//! Restores that fail: nothing half done, and nothing done later behind anybody's back.

use std::path::Path;

use everruns_core::failpoint;
use everruns_core::ids::SessionId;
use everruns_core::workspace::{WorkspaceError, WorkspaceHead};

use crate::fixture::{Scene, git, porcelain, read, write};

/// What is in the files, the index and the branch.
fn state(folder: &Path) -> Vec<String> {
    let mut state = porcelain(folder);
    state.push(git(folder, &["diff", "--binary"]));
    state.push(git(folder, &["diff", "--binary", "--cached"]));
    state.push(git(folder, &["rev-parse", "HEAD"]));
    for name in ["later.txt", "draft.txt", "noise.log"] {
        let bytes = std::fs::read(folder.join(name)).unwrap_or_default();
        state.push(String::from_utf8(bytes).unwrap());
    }
    state
}

/// A head with a checkpoint, from which everything has gone far: commits, what is staged, folders for files.
async fn scene() -> (Scene, WorkspaceHead) {
    let scene = Scene::new();
    let head = scene.head("one").await;
    let folder = scene.folder(&head);
    write(&folder.join("draft.txt"), "first\n");
    write(&folder.join(".gitattributes"), "*.txt text\n");
    head.checkpoint().await.unwrap();
    std::fs::remove_file(folder.join("README.md")).unwrap();
    write(&folder.join("README.md/inside"), "a folder now\n");
    std::fs::remove_file(folder.join(".gitattributes")).unwrap();
    git(&folder, &["add", "-A"]);
    git(&folder, &["commit", "-qm", "later"]);
    write(&folder.join("src/lib.rs"), "staged\n");
    git(&folder, &["add", "src/lib.rs"]);
    write(&folder.join("src/lib.rs"), "and changed\n");
    std::fs::remove_file(folder.join("src/two.rs")).unwrap();
    write(&folder.join("draft.txt"), "second\n");
    write(&folder.join("later.txt"), "later\n");
    write(&folder.join("noise.log"), "ignored\n");
    (scene, head)
}

fn intents(scene: &Scene) -> usize {
    scene.state.join("intents").read_dir().unwrap().count()
}

/// Proves H63 and H74 for any step: one that fails leaves the state before, and the next attempt succeeds.
#[tokio::test]
async fn h63_h74_a_failed_restore_is_undone_at_once() {
    let points = [
        "git.restore.after-checkpoint",
        "git.restore.after-intent",
        "git.restore.after-removals",
        "git.restore.after-files",
        "git.restore.after-index",
        "git.restore.after-branch",
        "git.index.after-announcement",
        "git.index.after-lock",
        "git.index.after-temporary",
        "git.refs.after-lock",
        "git.refs.after-log",
    ];
    for failpoint in points {
        let (scene, head) = scene().await;
        let folder = scene.folder(&head);
        let first = head.checkpoints().await.unwrap().remove(0);
        if failpoint.starts_with("git.refs") {
            // Keeping the state before takes a reference as well, which is there already then.
            head.checkpoint().await.unwrap();
        }
        let before = state(&folder);
        failpoint::arm(failpoint, || false);
        let failure = head.restore(&first).await.unwrap_err();
        failpoint::disarm_all();
        assert!(
            matches!(failure, WorkspaceError::Failpoint(_)),
            "{failpoint}: {failure:?}"
        );
        assert_eq!(state(&folder), before, "{failpoint}");
        assert_eq!(intents(&scene), 0, "{failpoint}");
        let report = scene.reopened().doctor(false).await.unwrap();
        assert!(report.findings.is_empty(), "{failpoint}: {report:?}");
        assert_eq!(state(&folder), before, "{failpoint}: nobody finishes it");
        head.restore(&first).await.unwrap();
        assert_eq!(porcelain(&folder), ["?? .gitattributes", "?? draft.txt"]);
        assert_eq!(read(&folder.join("README.md")), "# Project\n");
        assert_eq!(git(&folder, &["rev-parse", "HEAD"]), head.base());
    }
}

/// What can't be undone either goes back, not forth, before the next turn begins.
#[tokio::test]
async fn h63_a_restore_that_cant_be_undone_goes_back_later() {
    let (scene, head) = scene().await;
    let folder = scene.folder(&head);
    let first = head.checkpoints().await.unwrap().remove(0);
    let before = state(&folder);
    failpoint::arm("git.restore.after-files", || false);
    failpoint::arm("git.restore.before-undo", || false);
    let failure = head.restore(&first).await.unwrap_err();
    failpoint::disarm_all();
    assert!(
        matches!(&failure, WorkspaceError::HeadUnfinished { head: of, .. } if of == head.id()),
        "{failure:?}"
    );
    assert_ne!(state(&folder), before);
    assert_eq!(intents(&scene), 1);
    let session = SessionId::new("s").unwrap();
    let turn = head.hold(&session).await.unwrap();
    assert_eq!(intents(&scene), 0);
    assert_eq!(state(&folder), before);
    drop(turn);
    head.restore(&first).await.unwrap();
    assert_eq!(porcelain(&folder), ["?? .gitattributes", "?? draft.txt"]);
}
