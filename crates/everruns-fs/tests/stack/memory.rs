//! Files in memory.

use std::sync::Arc;

use bytes::Bytes;
use everruns_core::file_system::{
    ContentVersion, FileSystemError, Precondition, Removal, Replace, SessionFileSystem as _,
    SessionFileSystemExt as _,
};
use everruns_core::path::{MAX_DEPTH, MAX_PATH_BYTES, PathError};
use everruns_fs::{MemoryFileSystem, MemoryOptions};

use crate::support::{memory, names, path, root, text};

#[tokio::test]
async fn forks_are_independent_both_ways() {
    let one = memory(&[("a/b", "1"), ("c", "1")]).await;
    let two = one.fork();
    one.write_all("a/b", "one").await.unwrap();
    two.write_all("a/new", "two").await.unwrap();
    two.remove(&path("c"), Removal::Entry, Precondition::Any)
        .await
        .unwrap();
    assert_eq!(
        (
            text(one.as_ref(), "a/b").await.unwrap(),
            text(&two, "a/b").await.unwrap()
        ),
        ("one".into(), "1".into())
    );
    assert_eq!(names(one.as_ref(), ".").await, ["a", "c"]);
    assert_eq!(names(one.as_ref(), "a").await, ["b"]);
    assert_eq!(names(&two, ".").await, ["a"]);
}

/// What is in a folder goes only where all of it has a path.
#[tokio::test]
async fn a_folder_is_not_moved_where_its_files_would_have_no_path() {
    let long = |count: usize| vec!["n".repeat(250); count].join("/");
    let deep = |count: usize| vec!["d"; count].join("/");
    for (below, place, fitting) in [
        (long(9), long(8), long(7)),
        (deep(200), deep(100), deep(56)),
        (
            long(12),
            format!("{}/{}", "m".repeat(255), long(4)),
            "l".to_owned(),
        ),
        (deep(255), "other/place".to_owned(), "other".to_owned()),
    ] {
        let fs = MemoryFileSystem::new();
        let file = format!("moved/{below}");
        let is_too_long = |result| match result {
            Err(FileSystemError::Path(PathError::TooLong { length })) => length > MAX_PATH_BYTES,
            Err(FileSystemError::Path(PathError::TooDeep { depth })) => depth > MAX_DEPTH,
            _ => false,
        };
        fs.write_all(&file, "x").await.unwrap();
        let move_to = |place: &str| {
            let (from, to) = (path("moved"), path(place));
            let fs = &fs;
            async move { fs.rename(&from, &to, Replace::Never).await }
        };
        assert!(is_too_long(move_to(&place).await), "{below} {place}");
        assert_eq!(text(&fs, &file).await.unwrap(), "x");
        assert_eq!(names(&fs, ".").await, ["moved"]);
        move_to(&fitting).await.unwrap();
        let there = format!("{fitting}/{below}");
        assert_eq!(text(&fs, &there).await.unwrap(), "x");
        // What reached too far is gone, so nothing is in the way any more.
        fs.remove(&path(&there), Removal::Entry, Precondition::Any)
            .await
            .unwrap();
        let first = format!("{fitting}/{}", below.split('/').next().unwrap());
        fs.remove(&path(&first), Removal::Recursive, Precondition::Any)
            .await
            .unwrap();
        fs.write_all(&format!("{fitting}/short"), "y")
            .await
            .unwrap();
        fs.rename(&path(&fitting), &path("back"), Replace::Never)
            .await
            .unwrap();
        fs.rename(&path("back"), &path(&place), Replace::Never)
            .await
            .unwrap();
        assert_eq!(text(&fs, &format!("{place}/short")).await.unwrap(), "y");
    }
}

/// A fork shares everything, so a hundred thousand files cost what one costs.
#[tokio::test]
async fn forking_costs_the_same_for_any_size() {
    let fs = MemoryFileSystem::new();
    for folder in 0..100 {
        for file in 0..200 {
            let path = path(&format!("{folder}/{file}"));
            fs.write(&path, Bytes::from_static(b"x"), Precondition::Any)
                .await
                .unwrap();
        }
    }
    let started = std::time::Instant::now();
    let forks: Vec<MemoryFileSystem> = (0..10_000).map(|_| fs.fork()).collect();
    // Copying 20,000 entries as often would take minutes.
    assert!(
        started.elapsed() < std::time::Duration::from_secs(2),
        "{:?}",
        started.elapsed()
    );
    forks[0].write_all("5/5", "y").await.unwrap();
    assert_eq!(text(&fs, "5/5").await.unwrap(), "x");
}

#[tokio::test]
async fn h28_the_executable_bit_stays() {
    let fs = memory(&[("run", "1")]).await;
    fs.set_executable(&path("run"), true).unwrap();
    fs.write_all("run", "2").await.unwrap();
    fs.rename(&path("run"), &path("bin/run"), Replace::Never)
        .await
        .unwrap();
    assert!(fs.stat(&path("bin/run")).await.unwrap().executable);
    let folder = fs.set_executable(&path("bin"), true);
    assert!(matches!(folder, Err(FileSystemError::NotAFile { .. })));
}

/// Proves H44 and H75 in memory: files and trees are bounded, and what was there stays.
#[tokio::test]
async fn h44_h75_files_and_trees_are_bounded() {
    let fs = MemoryFileSystem::with_options(MemoryOptions {
        max_file_bytes: 10,
        max_total_bytes: 25,
        ..MemoryOptions::default()
    });
    let large = fs.write_all("a", vec![0_u8; 11]).await;
    assert!(matches!(
        large,
        Err(FileSystemError::TooLarge {
            size: 11,
            limit: 10,
            ..
        })
    ));
    fs.write_all("a", vec![1_u8; 10]).await.unwrap();
    fs.write_all("b", vec![1_u8; 10]).await.unwrap();
    let full = fs.write_all("c", vec![1_u8; 6]).await;
    assert!(matches!(full, Err(FileSystemError::NoSpace { .. })));
    fs.write_all("a", vec![1_u8; 5]).await.unwrap();
    fs.write_all("c", vec![1_u8; 6]).await.unwrap();
    fs.rename(&path("c"), &path("b"), Replace::File)
        .await
        .unwrap();
    fs.remove(&path("a"), Removal::Entry, Precondition::Any)
        .await
        .unwrap();
    fs.write_all("d", vec![1_u8; 10]).await.unwrap();
    assert_eq!(names(&fs, ".").await, ["b", "d"]);
}

#[tokio::test]
async fn paths_of_other_mounts_are_unknown() {
    let fs = memory(&[]).await;
    let path = path("a").with_mount(everruns_core::path::Mount::Root(root("docs")));
    let refused = fs.stat(&path).await;
    assert!(matches!(refused, Err(FileSystemError::UnknownRoot { .. })));
}

/// Proves H50 in one process: of many writers of one version, one wins.
#[tokio::test(flavor = "multi_thread")]
async fn h50_one_writer_of_a_version_wins() {
    let fs = memory(&[("a", "start")]).await;
    let version = ContentVersion::of(b"start");
    let writers: Vec<_> = (0..32)
        .map(|n| {
            let fs = Arc::clone(&fs);
            tokio::spawn(async move {
                let bytes = Bytes::from(format!("writer {n}"));
                fs.write(&path("a"), bytes, Precondition::Matches(version))
                    .await
            })
        })
        .collect();
    let mut won = Vec::new();
    for writer in writers {
        match writer.await.unwrap() {
            Ok(version) => won.push(version),
            Err(FileSystemError::Conflict { current, .. }) => assert!(current.is_some()),
            Err(error) => panic!("{error}"),
        }
    }
    assert_eq!(won, [fs.version(&path("a")).await.unwrap().unwrap()]);
}
