//! Additional roots.

use std::sync::Arc;

use everruns_core::file_system::{
    ContentVersion, FileSystemError, Precondition, Removal, Replace, SessionFileSystem,
    SessionFileSystemExt as _,
};
use everruns_fs::{
    MemoryFileSystem, MountedFileSystem, PolicyFileSystem, RootAccess, RootError, WorkspacePolicy,
    WorkspaceRootSet,
};
use everruns_testkit::doubles::UnflushedFileSystem;

use crate::support::{disk, glob, grep, memory, mounted, names, path, root, search, text};

async fn two(
    access: RootAccess,
) -> (
    MountedFileSystem,
    Arc<MemoryFileSystem>,
    Arc<MemoryFileSystem>,
) {
    let head = memory(&[("a", "head"), ("dir/b", "head")]).await;
    let docs = memory(&[("a", "docs"), ("guide/b", "docs")]).await;
    let fs = mounted(head.clone(), "docs", docs.clone(), access);
    (fs, head, docs)
}

#[tokio::test]
async fn c19_roots_are_named_mounts() {
    let (fs, _, docs) = two(RootAccess::ReadWrite).await;
    assert_eq!(text(&fs, "a").await.unwrap(), "head");
    assert_eq!(text(&fs, "/workspace/a").await.unwrap(), "head");
    assert_eq!(text(&fs, "/roots/docs/a").await.unwrap(), "docs");
    assert_eq!(names(&fs, "/roots/docs").await, ["a", "guide"]);
    fs.write_all("/roots/docs/new", "x").await.unwrap();
    assert_eq!(text(docs.as_ref(), "new").await.unwrap(), "x");
    let resolved = fs
        .resolve(
            &path("/roots/docs/a"),
            everruns_core::file_system::LastLink::Follow,
        )
        .await
        .unwrap();
    assert_eq!(resolved, path("/roots/docs/a"));
}

#[tokio::test]
async fn c19_names_are_unique_and_unknown_ones_are_told() {
    let files: Arc<dyn SessionFileSystem> = memory(&[]).await;
    let roots = WorkspaceRootSet::new()
        .with_root(root("docs"), Arc::clone(&files), RootAccess::ReadOnly)
        .unwrap();
    let twice = roots
        .clone()
        .with_root(root("docs"), Arc::clone(&files), RootAccess::ReadWrite);
    assert_eq!(
        twice.unwrap_err(),
        RootError::Duplicate { name: root("docs") }
    );
    assert_eq!(
        roots.names().map(ToString::to_string).collect::<Vec<_>>(),
        ["docs"]
    );
    let fs = MountedFileSystem::new(files, roots);
    let unknown = text(&fs, "/roots/dcos/a").await;
    assert!(matches!(
        unknown,
        Err(FileSystemError::UnknownRoot { name, known }) if name == "dcos" && known == ["docs"]
    ));
}

#[tokio::test]
async fn c19_errors_name_the_path_that_was_asked_for() {
    let (fs, _, _) = two(RootAccess::ReadWrite).await;
    let missing = text(&fs, "/roots/docs/no").await.unwrap_err();
    assert_eq!(missing.to_string(), "/roots/docs/no does not exist");
    let conflict = fs
        .write(&path("/roots/docs/a"), "x".into(), Precondition::Absent)
        .await
        .unwrap_err();
    assert!(
        conflict
            .to_string()
            .starts_with("/roots/docs/a is not as expected")
    );
}

#[tokio::test]
async fn c19_read_only_roots_refuse_every_change() {
    let (fs, _, docs) = two(RootAccess::ReadOnly).await;
    let read_only = |result: Result<(), FileSystemError>| {
        assert!(
            matches!(result, Err(FileSystemError::ReadOnly { .. })),
            "{result:?}"
        );
    };
    let (a, any) = (path("/roots/docs/a"), Precondition::Any);
    read_only(fs.write(&a, "x".into(), any).await.map(drop));
    read_only(fs.remove(&a, Removal::Entry, any).await);
    read_only(fs.create_dir(&path("/roots/docs/n")).await);
    read_only(fs.rename(&a, &path("moved"), Replace::Never).await);
    read_only(fs.rename(&a, &path("/roots/docs/z"), Replace::Never).await);
    read_only(
        fs.rename(&path("a"), &path("/roots/docs/z"), Replace::Never)
            .await,
    );
    assert_eq!(names(docs.as_ref(), ".").await, ["a", "guide"]);
    assert_eq!(text(&fs, "a").await.unwrap(), "head");
}

#[tokio::test]
async fn c19_searches_go_to_the_mount_with_its_own_names() {
    let (fs, _, _) = two(RootAccess::ReadOnly).await;
    let (found, _) = search(&fs, grep("/roots/docs", "docs")).await;
    assert_eq!(found, ["/roots/docs/a", "/roots/docs/guide/b"]);
    let policy = WorkspacePolicy::builder()
        .allow_read("**")
        .deny_read("/roots/docs/guide")
        .build()
        .unwrap();
    let fs = PolicyFileSystem::new(Arc::new(fs), policy);
    let (found, _) = search(&fs, glob("/roots/docs", "*")).await;
    assert_eq!(found, ["/roots/docs/a"]);
    let mut query = glob("/roots/docs", "*");
    query.limits.matches = 0;
    let (_, summary) = search(&fs, query).await;
    assert_eq!(summary.resume_after, Some(path("/roots/docs/a")));
}

/// Proves H07 for the good case: a file and a folder, both ways.
#[tokio::test]
async fn h07_moves_across_mounts() {
    let (fs, head, docs) = two(RootAccess::ReadWrite).await;
    fs.rename(&path("dir"), &path("/roots/docs/in/dir"), Replace::Never)
        .await
        .unwrap();
    assert_eq!(text(docs.as_ref(), "in/dir/b").await.unwrap(), "head");
    assert_eq!(names(head.as_ref(), ".").await, ["a"]);
    let there = fs
        .rename(&path("/roots/docs/a"), &path("a"), Replace::Never)
        .await;
    assert!(matches!(there, Err(FileSystemError::AlreadyExists { .. })));
    fs.rename(&path("/roots/docs/a"), &path("a"), Replace::File)
        .await
        .unwrap();
    assert_eq!(text(head.as_ref(), "a").await.unwrap(), "docs");
    assert_eq!(names(docs.as_ref(), ".").await, ["guide", "in"]);
}

/// Proves C08 and H07: a move to another mount that replaces a version replaces no other one.
#[tokio::test]
async fn c08_h07_a_move_across_mounts_replaces_only_the_version_it_names() {
    let (fs, head, docs) = two(RootAccess::ReadWrite).await;
    let seen = Replace::Matches(ContentVersion::of(b"docs"));
    docs.write_all("a", "changed").await.unwrap();
    let (from, to) = (path("a"), path("/roots/docs/a"));
    let moved = fs.rename(&from, &to, seen).await;
    let now = ContentVersion::of(b"changed");
    assert!(
        matches!(
            &moved,
            Err(FileSystemError::Conflict { path, current, .. }) if *path == to && *current == Some(now)
        ),
        "{moved:?}"
    );
    let nothing = fs.rename(&from, &path("/roots/docs/none"), seen).await;
    assert!(
        matches!(
            nothing,
            Err(FileSystemError::Conflict { current: None, .. })
        ),
        "{nothing:?}"
    );
    assert_eq!(text(docs.as_ref(), "a").await.unwrap(), "changed");
    assert_eq!(text(head.as_ref(), "a").await.unwrap(), "head");
    fs.rename(&from, &to, Replace::Matches(now)).await.unwrap();
    assert_eq!(text(docs.as_ref(), "a").await.unwrap(), "head");
    assert_eq!(names(head.as_ref(), ".").await, ["dir"]);
}

/// Proves H07: both policies are asked, and nothing is lost when the second half fails.
#[tokio::test]
async fn h07_a_failed_second_half_loses_nothing() {
    let head = memory(&[]).await;
    let docs = memory(&[("d/a", "1"), ("d/b", "2")]).await;
    // The source may be copied, but the policy of its own tree refuses the removal.
    let guarded = PolicyFileSystem::new(docs.clone(), WorkspacePolicy::read_only());
    let fs = mounted(
        head.clone(),
        "docs",
        Arc::new(guarded),
        RootAccess::ReadWrite,
    );
    let partial = fs
        .rename(&path("/roots/docs/d"), &path("d"), Replace::Never)
        .await;
    assert!(matches!(
        partial,
        Err(FileSystemError::PartialMove { from, to, source })
            if from == path("/roots/docs/d") && to == path("d")
                && source.to_string().contains("/roots/docs/d/a")
    ));
    for fs in [head.as_ref() as &dyn SessionFileSystem, docs.as_ref()] {
        assert_eq!(text(fs, "d/a").await.unwrap(), "1");
        assert_eq!(text(fs, "d/b").await.unwrap(), "2");
    }
}

/// Proves H07: a first half that fails is undone.
#[tokio::test]
async fn h07_a_failed_first_half_leaves_no_copy() {
    let head = memory(&[("d/a", "1"), ("d/b", "2"), ("d/c/e", "3")]).await;
    let docs = memory(&[]).await;
    let policy = WorkspacePolicy::builder()
        .allow_write("**")
        .deny_write("d/b")
        .build()
        .unwrap();
    let guarded = PolicyFileSystem::new(docs.clone(), policy);
    let fs = mounted(
        head.clone(),
        "docs",
        Arc::new(guarded),
        RootAccess::ReadWrite,
    );
    let refused = fs
        .rename(&path("d"), &path("/roots/docs/d"), Replace::Never)
        .await;
    assert!(matches!(refused, Err(FileSystemError::Denied { .. })));
    assert!(names(docs.as_ref(), ".").await.is_empty());
    assert_eq!(names(head.as_ref(), "d").await, ["a", "b", "c"]);
}

/// Proves H07 and H74: a destination that cannot keep the copy does not cost the source, and the move says what is where.
#[tokio::test]
async fn h07_h74_a_copy_that_may_not_last_is_no_move() {
    let head = memory(&[("a", "1"), ("d/b", "2")]).await;
    let docs = memory(&[("there", "old")]).await;
    let unflushed = Arc::new(UnflushedFileSystem::new(docs.clone()));
    let fs = mounted(head.clone(), "docs", unflushed, RootAccess::ReadWrite);
    for from in ["a", "d"] {
        let to = path("/roots/docs/new");
        let moved = fs.rename(&path(from), &to, Replace::Never).await;
        assert!(
            matches!(&moved, Err(FileSystemError::Io { path, .. }) if *path == to),
            "{moved:?}"
        );
        assert_eq!(names(docs.as_ref(), ".").await, ["there"]);
    }
    let (from, to) = (path("a"), path("/roots/docs/there"));
    let moved = fs.rename(&from, &to, Replace::File).await;
    let Err(FileSystemError::PartialMove {
        from: still,
        to: too,
        source,
    }) = moved
    else {
        panic!("{moved:?}");
    };
    assert_eq!((still, too), (from, to));
    assert!(
        matches!(*source, FileSystemError::NotFlushed { .. }),
        "{source}"
    );
    assert_eq!(text(head.as_ref(), "a").await.unwrap(), "1");
    assert_eq!(text(docs.as_ref(), "there").await.unwrap(), "1");
    assert_eq!(text(head.as_ref(), "d/b").await.unwrap(), "2");
}

/// Proves H74: a move whose source is gone, but may come back, is told of by the destination.
#[tokio::test]
async fn h74_a_removal_that_may_not_last_ends_a_move() {
    let head = memory(&[("d/a", "1"), ("d/b", "2")]).await;
    let docs = memory(&[]).await;
    let unflushed = Arc::new(UnflushedFileSystem::new(head.clone()));
    let fs = mounted(unflushed, "docs", docs.clone(), RootAccess::ReadWrite);
    let to = path("/roots/docs/d");
    let moved = fs.rename(&path("d"), &to, Replace::Never).await;
    assert!(
        matches!(&moved, Err(FileSystemError::NotFlushed { path, .. }) if *path == to),
        "{moved:?}"
    );
    assert!(names(head.as_ref(), ".").await.is_empty());
    assert_eq!(names(docs.as_ref(), "d").await, ["a", "b"]);
}

/// Proves H55 and H07: a move across mounts that nobody waits for any more is not made, or made to its end.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn h55_h07_a_dropped_move_across_mounts_is_made_or_not() {
    let mut made = 0;
    for round in 0..40 {
        let (head, _folder) = disk();
        let docs = memory(&[]).await;
        for number in 0..5 {
            head.write_all(&format!("d/f{number}"), "x").await.unwrap();
        }
        let fs = mounted(head.clone(), "docs", docs.clone(), RootAccess::ReadWrite);
        let (from, to) = (path("d"), path("/roots/docs/d"));
        let moving = fs.rename(&from, &to, Replace::Never);
        let patience = std::time::Duration::from_micros(round * 100);
        drop(tokio::time::timeout(patience, moving).await);
        let all = ["f0", "f1", "f2", "f3", "f4"];
        let began = std::time::Instant::now();
        loop {
            let (left, moved) = (
                names(head.as_ref(), ".").await,
                names(docs.as_ref(), ".").await,
            );
            if moved.is_empty() && began.elapsed() > std::time::Duration::from_millis(300) {
                assert_eq!(names(head.as_ref(), "d").await, all);
                break;
            }
            if left.is_empty() {
                assert_eq!(names(docs.as_ref(), "d").await, all);
                made += 1;
                break;
            }
            assert!(
                began.elapsed() < std::time::Duration::from_secs(20),
                "half a move is left"
            );
            tokio::time::sleep(std::time::Duration::from_millis(2)).await;
        }
    }
    assert!(made > 0, "no move was begun");
}
