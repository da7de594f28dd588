//! Ignored files that come along.

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::sync::Arc;

use everruns_core::workspace::{IgnoredReport, Workspace};
use everruns_git::LocalGitWorkspace;

use crate::fixture::{Scene, git, porcelain, read, snapshot, write};

fn paths(report: &IgnoredReport) -> Vec<&str> {
    report
        .included
        .iter()
        .map(|file| file.path.as_str())
        .collect()
}

fn skipped(report: &IgnoredReport) -> Vec<&str> {
    report
        .skipped
        .iter()
        .map(|file| file.path.as_str())
        .collect()
}

/// A repository with ignored files of every kind, and a `.worktreeinclude` that asks for some of them.
fn scene() -> Scene {
    let scene = Scene::new();
    let at = |name: &str| scene.repository.path.join(name);
    write(&at(".gitignore"), "ignored/\n*.log\n.env*\ncache\n");
    write(
        &at(".worktreeinclude"),
        "# what the tools need\n.env\ncache/\n!cache/big/\n*.log\n",
    );
    scene.repository.commit_all("ignore");
    write(&at(".env"), "SECRET=1\n");
    write(&at(".env.other"), "not asked for\n");
    write(&at("src/deep/trace.log"), "log\n");
    write(&at("cache/a/b.txt"), "cached\n");
    write(&at("cache/big/c.txt"), "below a folder that is asked for\n");
    write(&at("ignored/noise.txt"), "not asked for\n");
    write(&at("ignored/kept.log"), "asked for by its name\n");
    write(&at("untracked.txt"), "not ignored\n");
    let secret = std::fs::Permissions::from_mode(0o600);
    std::fs::set_permissions(at(".env"), secret).unwrap();
    symlink("/etc/passwd", at("cache/link")).unwrap();
    write(&at("cache/nested/.git/HEAD"), "ref: refs/heads/main\n");
    write(&at("cache/nested/x.txt"), "of another repository\n");
    scene
}

#[tokio::test]
async fn ignored_files_come_along_as_the_repository_asks() {
    let scene = scene();
    let before = snapshot(&scene.repository.path);
    let head = scene.head("one").await;
    assert_eq!(snapshot(&scene.repository.path), before);
    let folder = scene.folder(&head);
    let report = head.included_ignored().await.unwrap();
    assert_eq!(
        paths(&report),
        [
            ".env",
            "cache/a/b.txt",
            "cache/big/c.txt",
            "ignored/kept.log",
            "src/deep/trace.log"
        ]
    );
    assert_eq!(
        skipped(&report),
        ["cache/link", "cache/nested"],
        "{report:?}"
    );
    for file in &report.included {
        let original = scene.repository.path.join(&file.path);
        assert_eq!(read(&folder.join(&file.path)), read(&original));
        assert_eq!(file.bytes, original.metadata().unwrap().len());
    }
    let mode = folder.join(".env").metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    for absent in [
        ".env.other",
        "cache/link",
        "cache/nested",
        "ignored/noise.txt",
        "untracked.txt",
    ] {
        assert!(folder.join(absent).symlink_metadata().is_err(), "{absent}");
    }
    assert!(porcelain(&folder).is_empty());
    write(&folder.join(".env"), "SECRET=2\n");
    assert_eq!(
        read(&scene.repository.path.join(".env")),
        "SECRET=1\n",
        "the original is its own file"
    );

    // A fork gets them from the head that it is forked from.
    let fork = head.fork("two").await.unwrap();
    assert_eq!(
        paths(&fork.included_ignored().await.unwrap()),
        paths(&report)
    );
    assert_eq!(read(&scene.folder(&fork).join(".env")), "SECRET=2\n");
    let again = scene
        .workspace()
        .await
        .reopen(&head.binding())
        .await
        .unwrap();
    assert_eq!(again.included_ignored().await.unwrap(), report);
}

#[tokio::test]
async fn who_makes_a_head_can_ask_for_more() {
    let scene = scene();
    std::fs::remove_file(scene.repository.path.join(".worktreeinclude")).unwrap();
    let workspace = scene.workspace().await;
    let none = workspace.head("none").create().await.unwrap();
    assert_eq!(
        none.included_ignored().await.unwrap(),
        IgnoredReport::default()
    );
    let head = workspace
        .head("some")
        .include_ignored([".env*", "!.env"])
        .create()
        .await
        .unwrap();
    assert_eq!(
        paths(&head.included_ignored().await.unwrap()),
        [".env.other"]
    );
    let fork = head.fork("fork").await.unwrap();
    assert_eq!(
        paths(&fork.included_ignored().await.unwrap()),
        [".env.other"]
    );
}

/// What the new head's commit doesn't ignore could end up in a commit, so it stays away.
#[tokio::test]
async fn what_the_new_head_does_not_ignore_stays_away() {
    let scene = scene();
    let workspace = scene.workspace().await;
    let head = workspace
        .head("old")
        .from_revision("main~1")
        .create()
        .await
        .unwrap();
    let report = head.included_ignored().await.unwrap();
    assert_eq!(paths(&report), ["ignored/kept.log", "src/deep/trace.log"]);
    assert!(skipped(&report).contains(&".env"));
    assert!(porcelain(&scene.folder(&head)).is_empty());
}

#[tokio::test]
async fn what_is_over_the_limit_is_told_and_left_out() {
    let scene = scene();
    write(
        &scene.repository.path.join("cache/huge.bin"),
        &"x".repeat(10_000),
    );
    let backend = LocalGitWorkspace::builder(&scene.state)
        .user_settings(false)
        .ignored_limit(1_000)
        .build()
        .unwrap();
    let workspace = Workspace::open(Arc::new(backend), scene.repository.path.to_str().unwrap())
        .await
        .unwrap();
    let head = workspace.head("one").create().await.unwrap();
    let report = head.included_ignored().await.unwrap();
    assert!(skipped(&report).contains(&"cache/huge.bin"));
    assert!(paths(&report).contains(&"cache/a/b.txt"));
    assert!(report.included.iter().map(|file| file.bytes).sum::<u64>() <= 1_000);
}

/// A file with the patterns that is a link or a pipe asks for nothing, and is not waited for.
#[tokio::test]
async fn h16_patterns_are_read_from_a_regular_file_only() {
    let scene = scene();
    let file = scene.repository.path.join(".worktreeinclude");
    std::fs::remove_file(&file).unwrap();
    symlink(scene.repository.path.join(".gitignore"), &file).unwrap();
    let head = scene.head("link").await;
    assert_eq!(
        head.included_ignored().await.unwrap(),
        IgnoredReport::default()
    );
    std::fs::remove_file(&file).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &file,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RWXU,
        0,
    )
    .unwrap();
    let head = scene.head("pipe").await;
    assert_eq!(
        head.included_ignored().await.unwrap(),
        IgnoredReport::default()
    );
}

/// H16: a pipe in the place of a file of rules, and a folder that can't be listed, are told and not waited for.
#[tokio::test]
async fn h16_rules_that_are_no_file_are_told_and_not_waited_for() {
    let scene = scene();
    let at = |name: &str| scene.repository.path.join(name);
    let pipe = |path: &std::path::Path| {
        rustix::fs::mkfifoat(rustix::fs::CWD, path, rustix::fs::Mode::RWXU).unwrap();
    };
    for folder in ["sub", "cache/below", "attributes"] {
        std::fs::create_dir(at(folder)).unwrap();
    }
    pipe(&at("sub/.gitignore"));
    pipe(&at("attributes/.gitattributes"));
    pipe(&at("cache/below/.gitignore"));
    write(&at("sub/trace.log"), "log\n");
    let started = std::time::Instant::now();
    let head = tokio::time::timeout(std::time::Duration::from_secs(20), scene.head("one")).await;
    let report = head.unwrap().included_ignored().await.unwrap();
    assert!(started.elapsed() < std::time::Duration::from_secs(10));
    assert_eq!(
        skipped(&report),
        [
            "attributes/.gitattributes",
            "cache/below/.gitignore",
            "cache/link",
            "cache/nested",
            "sub/.gitignore"
        ],
        "{report:?}"
    );
    assert!(paths(&report).contains(&"cache/a/b.txt"));
    assert!(paths(&report).contains(&"src/deep/trace.log"));
    std::fs::remove_file(at("sub/.gitignore")).unwrap();
    let head = scene.head("two").await;
    let report = head.included_ignored().await.unwrap();
    assert!(paths(&report).contains(&"sub/trace.log"));
}

/// Of several working trees of a repository, the files come from the one that the workspace was opened in.
#[tokio::test]
async fn ignored_files_come_from_the_worktree_that_was_opened() {
    let scene = scene();
    let project = scene.repository.path.to_str().unwrap();
    let bare = scene.root.path().join("bare.git");
    let linked = scene.root.path().join("linked");
    let (bare_path, linked_path) = (bare.to_str().unwrap(), linked.to_str().unwrap());
    git(
        scene.root.path(),
        &["clone", "-q", "--bare", project, bare_path],
    );
    git(&bare, &["worktree", "add", "-q", linked_path, "main"]);
    let beside = scene.root.path().join("beside");
    let added = [
        "worktree",
        "add",
        "-q",
        "--detach",
        beside.to_str().unwrap(),
    ];
    git(&scene.repository.path, &added);
    for (place, name) in [(&linked, "of a bare one"), (&beside, "of another")] {
        write(&place.join(".env"), "SECRET=here\n");
        let locator = place.join("src");
        let locator = locator.to_str().unwrap();
        let workspace = Workspace::open(Arc::clone(&scene.backend), locator)
            .await
            .unwrap();
        let before = snapshot(place);
        let head = workspace.head(name).create().await.unwrap();
        assert_eq!(snapshot(place), before);
        let report = head.included_ignored().await.unwrap();
        assert_eq!(paths(&report), [".env"], "{report:?}");
        assert_eq!(read(&scene.folder(&head).join(".env")), "SECRET=here\n");
    }
}
