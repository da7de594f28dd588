//! Differences beside `git diff`.

use std::fmt::Write as _;

use everruns_core::workspace::{FileChange, WorkspaceDiff};

use crate::fixture::{Scene, git, make_executable, write};

/// `git diff --numstat` in one line a file: added, removed, path.
fn numstat(diff: &WorkspaceDiff) -> String {
    let mut text = String::new();
    for file in &diff.files {
        let path = match &file.original {
            Some(original) => format!("{original} => {}", file.path),
            None => file.path.clone(),
        };
        if file.binary {
            writeln!(text, "-\t-\t{path}").unwrap();
        } else {
            writeln!(text, "{}\t{}\t{path}", file.added, file.removed).unwrap();
        }
    }
    text.trim_end().to_owned()
}

#[tokio::test]
async fn diff_counts_and_hunks_are_those_of_git() {
    let scene = Scene::new();
    let numbers = (1..=40).map(|n| n.to_string() + "\n").collect::<String>();
    write(&scene.repository.path.join("numbers"), &numbers);
    write(
        &scene.repository.path.join("old-name.txt"),
        &numbers.replace('1', "one "),
    );
    scene.repository.commit_all("numbers");
    let head = scene.head("one").await;
    let folder = scene.folder(&head);
    assert!(!head.diff().await.unwrap().changed);

    write(
        &folder.join("numbers"),
        &numbers.replace("7\n", "seven\n").replace("40\n", "forty"),
    );
    write(&folder.join("committed.txt"), "committed\n");
    git(&folder, &["add", "."]);
    git(&folder, &["commit", "-q", "-m", "in the head"]);
    write(&folder.join("new/untracked.txt"), "a\nb\nc");
    std::fs::write(folder.join("binary"), b"a\0b").unwrap();
    std::fs::remove_file(folder.join("src/two.rs")).unwrap();
    make_executable(&folder.join("README.md"));
    std::fs::rename(folder.join("old-name.txt"), folder.join("new-name.txt")).unwrap();
    std::fs::remove_file(folder.join("link")).unwrap();
    write(&folder.join("link"), "a file\n");

    let objects = git(&folder, &["count-objects"]);
    let diff = head.diff().await.unwrap();
    assert_eq!(
        git(&folder, &["count-objects"]),
        objects,
        "looking stores nothing"
    );
    let change = |path: &str| {
        diff.files
            .iter()
            .find(|file| file.path == path)
            .unwrap()
            .change
    };
    assert_eq!(change("new-name.txt"), FileChange::Renamed);
    assert_eq!(change("src/two.rs"), FileChange::Deleted);
    assert_eq!(change("committed.txt"), FileChange::Added);
    assert_eq!(change("README.md"), FileChange::Modified);
    assert_eq!(change("link"), FileChange::TypeChanged);

    git(&folder, &["add", "-A"]);
    let theirs = git(
        &folder,
        &[
            "diff",
            "--cached",
            "--numstat",
            "-M",
            head.base(),
            "--",
            ".",
        ],
    );
    let sorted = |text: &str| {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    assert_eq!(sorted(&numstat(&diff)), sorted(&theirs));
    let hunks = |text: &str| {
        let kept = text
            .lines()
            .filter(|line| line.starts_with(['@', '+', '-', ' ', '\\']));
        kept.map(|line| line.split(" @@").next().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let theirs = git(&folder, &["diff", "--cached", head.base(), "--", "numbers"]);
    let ours = diff
        .files
        .iter()
        .find(|file| file.path == "numbers")
        .unwrap()
        .to_string();
    assert_eq!(hunks(&ours), hunks(&theirs));
}

#[tokio::test]
async fn diff_since_a_checkpoint_leaves_out_what_was_before() {
    let scene = Scene::new();
    let head = scene.head("one").await;
    let folder = scene.folder(&head);
    write(&folder.join("before.txt"), "before\n");
    let checkpoint = head.checkpoint().await.unwrap();
    write(&folder.join("after.txt"), "after\n");
    let diff = head.diff_since(&checkpoint).await.unwrap();
    assert_eq!(numstat(&diff), "1\t0\tafter.txt");
    assert_eq!(diff.added(), 1);
    assert_eq!(
        numstat(&head.diff().await.unwrap()),
        "1\t0\tafter.txt\n1\t0\tbefore.txt"
    );
}
