//! What arrives, and what is told before anything is copied.

use std::collections::BTreeMap;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use everruns_core::file_system::{
    ContentVersion, FileKind, FileSystemError, Replace, SessionFileSystem,
    SessionFileSystemExt as _,
};
use everruns_fs::disk::Resolution;

use crate::forgetful::{Forgetful, Forgets};
use crate::support::{disk, disk_resolved_by, memory, names, path, text};

use super::{counted, fill, target, things, two_mounts, write_executable};

/// Proves H07: a folder arrives as it was, executable files and links included, both ways and however paths are resolved.
#[tokio::test]
async fn h07_executable_files_and_links_arrive_as_they_were() {
    for resolution in [Resolution::Kernel, Resolution::Walk] {
        let ((head, head_folder), (docs, docs_folder)) =
            (disk_resolved_by(resolution), disk_resolved_by(resolution));
        let all = fill(head.as_ref(), true).await;
        let odd = std::os::unix::ffi::OsStrExt::from_bytes(&b"plain\xff/../plain"[..]);
        let odd: &std::ffi::OsStr = odd;
        symlink(odd, head_folder.path().join("tree/d/odd")).unwrap();
        let fs = two_mounts(head.clone(), docs.clone());
        let (here, there) = (path("d"), path("/roots/docs/in/d"));
        fs.rename(&here, &there, Replace::Never).await.unwrap();
        assert!(names(head.as_ref(), ".").await.is_empty());
        let tree = docs_folder.path().join("tree/in/d");
        assert_eq!(
            std::fs::read_link(tree.join("odd")).unwrap(),
            Path::new(odd)
        );
        assert_eq!(
            std::fs::read_link(tree.join("bin/up")).unwrap(),
            Path::new(".././/plain")
        );
        let mode = |at: &str| {
            std::fs::metadata(tree.join(at))
                .unwrap()
                .permissions()
                .mode()
        };
        assert_eq!(mode("bin/run") & 0o100, 0o100);
        assert_eq!(mode("plain") & 0o111, 0);
        assert_eq!(text(&fs, "/roots/docs/in/d/latest").await.unwrap(), "2");
        assert_eq!(text(&fs, "/roots/docs/in/d/bin/up").await.unwrap(), "1");
        std::fs::remove_file(tree.join("odd")).unwrap();
        fs.rename(&there, &here, Replace::Never).await.unwrap();
        assert_eq!(things(head.as_ref(), "d").await, all);
        assert!(names(docs.as_ref(), "in").await.is_empty());
    }
}

/// Proves H07 for trees in memory, which hold executable files.
#[tokio::test]
async fn h07_executable_files_move_to_memory_and_back() {
    let (head, _folder) = disk();
    let docs = memory(&[]).await;
    let all = fill(head.as_ref(), false).await;
    let fs = two_mounts(head.clone(), docs.clone());
    let (here, there) = (path("d"), path("/roots/docs/d"));
    fs.rename(&here, &there, Replace::Never).await.unwrap();
    assert_eq!(things(docs.as_ref(), "d").await, all);
    assert_eq!(things(head.as_ref(), "d").await, BTreeMap::new());
    fs.rename(&there, &here, Replace::Never).await.unwrap();
    assert_eq!(things(head.as_ref(), "d").await, all);
}

/// Proves H07: what replaces a file has its own mode, not the replaced file's; links replace files and links.
#[tokio::test]
async fn h07_what_is_replaced_leaves_nothing_of_its_own() {
    let ((head, _one), (docs, _two)) = (disk(), disk());
    let fs = two_mounts(head.clone(), docs.clone());
    let there = path("/roots/docs/there");
    let is_executable = async || fs.stat(&there).await.unwrap().executable;
    docs.write_all("there", "old").await.unwrap();
    write_executable(head.as_ref(), "run", "run").await;
    let old = Replace::Matches(ContentVersion::of(b"old"));
    fs.rename(&path("run"), &there, old).await.unwrap();
    assert!(is_executable().await);
    head.write_all("plain", "plain").await.unwrap();
    let moved = fs.rename(&path("plain"), &there, Replace::File).await;
    moved.unwrap();
    assert!(!is_executable().await);
    for (text, replace) in [
        ("a", Replace::Matches(ContentVersion::of(b"plain"))),
        ("b", Replace::File),
    ] {
        let link = path("link");
        let made = fs.create_link(&link, &target(text), Replace::Never).await;
        made.unwrap();
        let moved = fs.rename(&link, &there, Replace::Never).await;
        assert!(matches!(moved, Err(FileSystemError::AlreadyExists { .. })));
        fs.rename(&link, &there, replace).await.unwrap();
        assert_eq!(fs.read_link(&there).await.unwrap(), target(text));
    }
    assert!(names(head.as_ref(), ".").await.is_empty());
    // A file would have to replace the link in two steps, so it does not.
    head.write_all("file", "x").await.unwrap();
    let moved = fs.rename(&path("file"), &there, Replace::File).await;
    assert!(
        matches!(
            moved,
            Err(FileSystemError::NotAFile {
                kind: FileKind::Symlink,
                ..
            })
        ),
        "{moved:?}"
    );
}

/// Proves H07 and H10: a link whose text would leave its new tree is told before anything is copied.
#[tokio::test]
async fn h07_h10_a_link_that_would_leave_its_new_tree_is_not_moved() {
    for resolution in [Resolution::Kernel, Resolution::Walk] {
        let ((head, folder), (docs, docs_folder)) =
            (disk_resolved_by(resolution), disk_resolved_by(resolution));
        let (audited, changes) = counted(docs.clone());
        let fs = two_mounts(head.clone(), audited);
        docs.write_all("deep/er/kept", "x").await.unwrap();
        symlink("deep/er", docs_folder.path().join("tree/alias")).unwrap();
        let tree = folder.path().join("tree/a/b");
        for (text, to, escapes) in [
            ("../../plain", "/roots/docs/b", true),
            ("../../plain", "/roots/docs/c/b", false),
            // Where a destination really lies decides.
            ("../../../plain", "/roots/docs/alias/b", false),
            ("../../../../plain", "/roots/docs/alias/b", true),
            ("/etc/passwd", "/roots/docs/b", true),
            ("/workspace/plain", "/roots/docs/b", true),
            ("x/../../../y", "/roots/docs/b", true),
        ] {
            std::fs::create_dir_all(&tree).unwrap();
            std::fs::write(tree.join("aaa-first"), "1").unwrap();
            symlink(text, tree.join("link")).unwrap();
            let moved = fs.rename(&path("a/b"), &path(to), Replace::Never).await;
            let before = [".", "deep/er"];
            let asked = changes.swap(0, Ordering::SeqCst);
            assert_eq!(asked == 0, escapes, "{text} at {to}: {asked} changes");
            if escapes {
                let at = path(&format!("{to}/link"));
                assert!(
                    matches!(&moved, Err(FileSystemError::Escapes { path }) if *path == at),
                    "{text} at {to}: {moved:?}"
                );
                assert_eq!(names(docs.as_ref(), before[0]).await, ["alias", "deep"]);
                assert_eq!(names(docs.as_ref(), before[1]).await, ["kept"]);
                assert_eq!(names(head.as_ref(), "a/b").await, ["aaa-first", "link"]);
            } else {
                moved.unwrap();
                let said = fs.read_link(&path(&format!("{to}/link"))).await;
                assert_eq!(said.unwrap(), target(text));
                let away = docs.root().join(path(to).relative());
                std::fs::remove_dir_all(away).unwrap();
                let left = docs.root().join("c");
                drop(std::fs::remove_dir(left));
            }
            drop(std::fs::remove_dir_all(&tree));
        }
    }
}

/// Proves H07: what the other tree cannot hold is told before anything is copied.
#[tokio::test]
async fn h07_what_the_other_tree_cannot_hold_is_not_moved() {
    let (head, _folder) = disk();
    let all = fill(head.as_ref(), true).await;
    let without_links: Arc<dyn SessionFileSystem> = memory(&[]).await;
    let (inner, _other) = disk();
    let without_modes: Arc<dyn SessionFileSystem> =
        Arc::new(Forgetful::new(inner, Forgets::Executables));
    for (docs, what) in [
        (without_links, "symbolic links"),
        (without_modes, "executable files"),
    ] {
        let (audited, changes) = counted(docs.clone());
        let fs = two_mounts(head.clone(), audited);
        let moved = fs
            .rename(&path("d"), &path("/roots/docs/in/d"), Replace::Never)
            .await;
        assert_eq!(changes.load(Ordering::SeqCst), 0, "{what}");
        assert!(
            matches!(
                &moved,
                Err(FileSystemError::Unsupported { path, what: missing })
                    if path.to_string().starts_with("/roots/docs/in/d/") && *missing == what
            ),
            "{moved:?}"
        );
        assert!(names(docs.as_ref(), ".").await.is_empty());
        assert_eq!(things(head.as_ref(), "d").await, all);
        // Plain files need none of it.
        let plain = fs
            .rename(&path("d/plain"), &path("/roots/docs/plain"), Replace::Never)
            .await;
        plain.unwrap();
        let back = fs
            .rename(&path("/roots/docs/plain"), &path("d/plain"), Replace::Never)
            .await;
        back.unwrap();
    }
}

/// Proves H07: between disks permission bits are kept, and no copy allows more than its source, folders included.
#[tokio::test]
async fn h07_a_copy_allows_nobody_more_than_its_source() {
    for resolution in [Resolution::Kernel, Resolution::Walk] {
        let ((head, one), (docs, two)) =
            (disk_resolved_by(resolution), disk_resolved_by(resolution));
        let fs = two_mounts(head.clone(), docs.clone());
        let (source, copy) = (one.path().join("tree"), two.path().join("tree"));
        let mode = |at: &Path| std::fs::metadata(at).unwrap().permissions().mode() & 0o777;
        let set = |at: &Path, mode: u32| {
            std::fs::set_permissions(at, PermissionsExt::from_mode(mode)).unwrap();
        };
        for wanted in [
            0o600, 0o444, 0o700, 0o755, 0o644, 0o640, 0o400, 0o666, 0o711,
        ] {
            for is_replacing in [false, true] {
                head.write_all("f", "x").await.unwrap();
                set(&source.join("f"), wanted);
                drop(std::fs::remove_file(copy.join("f")));
                if is_replacing {
                    std::fs::write(copy.join("f"), "old").unwrap();
                    set(&copy.join("f"), 0o755);
                }
                let (from, to) = (path("f"), path("/roots/docs/f"));
                fs.rename(&from, &to, Replace::File).await.unwrap();
                assert_eq!(mode(&copy.join("f")), wanted, "{wanted:o}");
            }
        }
        for wanted in [0o700, 0o750, 0o711, 0o777] {
            head.write_all("d/e/private", "x").await.unwrap();
            set(&source.join("d"), wanted);
            set(&source.join("d/e"), 0o700);
            set(&source.join("d/e/private"), 0o600);
            let to = path("/roots/docs/d");
            fs.rename(&path("d"), &to, Replace::Never).await.unwrap();
            let arrived = mode(&copy.join("d"));
            assert_eq!(arrived & !wanted, 0, "{wanted:o} arrived as {arrived:o}");
            assert_eq!(arrived & 0o700, 0o700);
            assert_eq!(mode(&copy.join("d/e")), 0o700);
            assert_eq!(mode(&copy.join("d/e/private")), 0o600);
            std::fs::remove_dir_all(copy.join("d")).unwrap();
        }
    }
}

/// Proves H07: a tree that takes a mode and does not keep it is found out, and the source stays.
#[tokio::test]
async fn h07_a_tree_that_loses_modes_is_found_out() {
    let head = memory(&[]).await;
    write_executable(head.as_ref(), "run", "x").await;
    let (inner, _folder) = disk();
    let docs = Arc::new(Forgetful::new(inner.clone(), Forgets::ToSetModes));
    let fs = two_mounts(head.clone(), docs);
    let moved = fs
        .rename(&path("run"), &path("/roots/docs/run"), Replace::Never)
        .await;
    assert!(
        matches!(moved, Err(FileSystemError::Unsupported { .. })),
        "{moved:?}"
    );
    assert!(names(inner.as_ref(), ".").await.is_empty());
    assert!(head.stat(&path("run")).await.unwrap().executable);
}
