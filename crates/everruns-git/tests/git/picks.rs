//! Cherry-picks and reverts under way in a head.

use std::path::{Path, PathBuf};

use everruns_core::workspace::CommitRequest;

use crate::fixture::{Scene, git, porcelain, read, try_git, write};

fn record(folder: &Path) -> PathBuf {
    git(folder, &["rev-parse", "--absolute-git-dir"]).into()
}

/// What Git says is under way.
fn under_way(folder: &Path) -> Vec<String> {
    let status = git(folder, &["-c", "advice.statusHints=false", "status"]);
    let is_told = |line: &&str| {
        ["cherry-pick", "Cherry-pick", "evert", "merging", "rebas"]
            .iter()
            .any(|word| line.contains(word))
    };
    status.lines().filter(is_told).map(str::to_owned).collect()
}

/// A head on which a commit stands that conflicts with two later ones of `main`, which are returned.
fn conflicting(scene: &Scene, folder: &Path) -> [String; 2] {
    write(&folder.join("README.md"), "mine\n");
    git(folder, &["commit", "-qam", "mine"]);
    let theirs = |text: &str| {
        write(&scene.repository.path.join("README.md"), text);
        scene.repository.commit_all(text.trim())
    };
    [theirs("theirs\n"), theirs("theirs too\n")]
}

/// A restore to a checkpoint from before ends a cherry-pick or a revert, and one to a checkpoint of it goes on with it.
#[tokio::test]
async fn a_restore_ends_what_was_under_way_and_brings_it_back() {
    for command in ["cherry-pick", "revert", "cherry-pick both"] {
        let scene = Scene::new();
        let head = scene.head("one").await;
        let folder = scene.folder(&head);
        let [first, second] = conflicting(&scene, &folder);
        let before = head.checkpoint().await.unwrap();
        let args = match command {
            "revert" => vec!["revert", "--no-edit", &first],
            "cherry-pick" => vec!["cherry-pick", &first],
            _ => vec!["cherry-pick", &first, &second],
        };
        let stopped = try_git(&folder, &args);
        assert!(!stopped.status.success(), "{command} stops at a conflict");
        let (told, status) = (under_way(&folder), porcelain(&folder));
        assert!(!told.is_empty(), "{command}");
        let message = read(&record(&folder).join("MERGE_MSG"));

        let during = head.restore(&before).await.unwrap().before;
        assert_eq!(under_way(&folder), [""; 0], "{command}");
        assert!(porcelain(&folder).is_empty(), "{command}");
        for left in ["MERGE_MSG", "AUTO_MERGE", "sequencer", "CHERRY_PICK_HEAD"] {
            let left = record(&folder).join(left);
            assert!(!left.exists(), "{command}: {}", left.display());
        }

        head.restore(&during).await.unwrap();
        assert_eq!(under_way(&folder), told, "{command}");
        assert_eq!(porcelain(&folder), status, "{command}");
        assert_eq!(read(&record(&folder).join("MERGE_MSG")), message);
        write(&folder.join("README.md"), "both\n");
        git(&folder, &["add", "README.md"]);
        let go_on = args[0];
        let went_on = try_git(&folder, &["-c", "core.editor=true", go_on, "--continue"]);
        assert_eq!(
            went_on.status.success(),
            args.len() == 2 || go_on == "revert"
        );
        git(&folder, &["log", "-1", "--grep=theirs"]);

        head.restore(&before).await.unwrap();
        write(&folder.join("work.txt"), "work\n");
        let request = CommitRequest::new("work");
        head.commit(request).await.unwrap();
    }
}

/// A fork goes on with a cherry-pick too.
#[tokio::test]
async fn a_fork_of_a_cherry_pick_is_in_the_middle_of_it() {
    let scene = Scene::new();
    let head = scene.head("one").await;
    let folder = scene.folder(&head);
    let [first, _] = conflicting(&scene, &folder);
    assert!(!try_git(&folder, &["cherry-pick", &first]).status.success());
    let fork = head.fork("two").await.unwrap();
    let there = scene.folder(&fork);
    assert_eq!(under_way(&there), under_way(&folder));
    assert_eq!(porcelain(&there), porcelain(&folder));
}

/// What a rebase notes of the commit that it picks stays the rebase's.
#[tokio::test]
async fn a_restore_within_a_rebase_leaves_it_under_way() {
    let scene = Scene::new();
    let head = scene.head("one").await;
    let folder = scene.folder(&head);
    conflicting(&scene, &folder);
    assert!(!try_git(&folder, &["rebase", "-q", "main"]).status.success());
    let (told, status) = (under_way(&folder), porcelain(&folder));
    let during = head.checkpoint().await.unwrap();
    write(&folder.join("README.md"), "resolved\n");
    head.restore(&during).await.unwrap();
    assert_eq!(under_way(&folder), told);
    assert_eq!(porcelain(&folder), status);
    write(&folder.join("README.md"), "resolved\n");
    git(&folder, &["add", "README.md"]);
    git(&folder, &["-c", "core.editor=true", "rebase", "--continue"]);
}
