//! Differences beside `git diff`.

use std::fmt::Write as _;

use everruns_core::workspace::{DiffRequest, FileChange, WorkspaceDiff};

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

/// A large text is a text; its hunks are left out of a page of many files, and not of one of its own.
#[tokio::test]
async fn large_texts_are_told_as_texts_and_paged() {
    let scene = Scene::new();
    let head = scene.head("one").await;
    let folder = scene.folder(&head);
    write(&folder.join("a-long.txt"), &"line\n".repeat(120_000));
    write(&folder.join("b-wide.txt"), &"wide ".repeat(2_000_000));
    write(&folder.join("c-huge.txt"), &"huge ".repeat(7_000_000));
    write(&folder.join("d-small.txt"), "small\n");
    git(&folder, &["add", "."]);
    git(&folder, &["commit", "-q", "-m", "large"]);
    let diff = head.diff().await.unwrap();
    let told: Vec<_> = diff
        .files
        .iter()
        .map(|file| {
            (
                file.path.as_str(),
                file.binary,
                file.omitted,
                file.added,
                file.hunks.len(),
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            ("a-long.txt", false, true, 120_000, 0),
            ("b-wide.txt", false, true, 0, 0),
            ("c-huge.txt", false, true, 0, 0),
            ("d-small.txt", false, false, 1, 1),
        ]
    );
    assert!(diff.truncated);
    assert_eq!(diff.next, None, "no more files follow");
    assert!(!diff.to_string().contains("Binary files"));
    let page = async |skip| {
        let request = DiffRequest {
            skip,
            limit: Some(1),
            ..DiffRequest::default()
        };
        head.diff_range(request).await.unwrap()
    };
    let long = page(0).await;
    assert_eq!(long.files[0].hunks[0].lines.len(), 120_000);
    assert!(!long.files[0].omitted && long.next == Some(1));
    let wide = page(1).await;
    assert_eq!((wide.files[0].added, wide.files[0].omitted), (1, false));
    let huge = page(2).await;
    assert!(huge.files[0].omitted && !huge.files[0].binary);
    let last = page(3).await;
    assert_eq!((last.next, last.truncated), (None, false));
}
