//! Moves from one mount to another: what moves is whole at the source or at the destination, as it was.

use std::collections::BTreeMap;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use everruns_core::file_system::{
    ContentVersion, FileKind, FileMode, FileSystemError, LinkTarget, Precondition, ReadRange,
    Replace, SessionFileSystem, SessionFileSystemExt as _,
};
use everruns_core::path::WorkspacePath;
use everruns_fs::disk::{DiskFileSystem, Resolution};
use everruns_fs::{
    AuditEvent, AuditFileSystem, MemoryFileSystem, MountedFileSystem, PolicyFileSystem, RootAccess,
    WorkspacePolicy,
};
use everruns_testkit::doubles::{Fault, FaultyFileSystem, Moment, UnflushedFileSystem};

use proptest::prelude::*;

use crate::forgetful::{Forgetful, Forgets};
use crate::support::{disk, disk_resolved_by, memory, mounted, names, path, text};

/// An entry that is no folder, as it must arrive.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Thing {
    File(Bytes, bool),
    Link(LinkTarget),
}

/// All that is in the folder `dir`, by its path below it; nothing if there is no such folder.
async fn things(fs: &dyn SessionFileSystem, dir: &str) -> BTreeMap<String, Thing> {
    let top = path(dir);
    let mut found = BTreeMap::new();
    let mut open = vec![top.clone()];
    while let Some(folder) = open.pop() {
        let entries = match fs.list_all(&folder).await {
            Err(FileSystemError::NotFound { .. }) => continue,
            other => other.unwrap(),
        };
        for entry in entries {
            let at = folder.join(&entry.name).unwrap();
            let thing = match entry.stat.kind {
                FileKind::Directory => {
                    open.push(at);
                    continue;
                }
                FileKind::Symlink => Thing::Link(fs.read_link(&at).await.unwrap()),
                _ => {
                    let content = fs.read(&at, ReadRange::ALL).await.unwrap();
                    Thing::File(content.into_bytes(), entry.stat.executable)
                }
            };
            let below = at.relative().strip_prefix(top.relative()).unwrap();
            found.insert(below.to_owned(), thing);
        }
    }
    found
}

fn target(text: &str) -> LinkTarget {
    LinkTarget::new(text.as_bytes().to_vec()).unwrap()
}

async fn write_executable(fs: &dyn SessionFileSystem, at: &str, bytes: &'static str) {
    let (at, any) = (path(at), Precondition::Any);
    fs.write_with_mode(&at, bytes.into(), FileMode::Executable, any)
        .await
        .unwrap();
}

/// A folder `d` of every kind of thing; links in it go with `links`.
async fn fill(fs: &dyn SessionFileSystem, links: bool) -> BTreeMap<String, Thing> {
    fs.write_all("d/plain", "1").await.unwrap();
    write_executable(fs, "d/bin/run", "2").await;
    if links {
        for (at, text) in [
            ("d/latest", "bin/run"),
            ("d/bin/up", ".././/plain"),
            ("d/nowhere", "not/there"),
        ] {
            fs.create_link(&path(at), &target(text), Replace::Never)
                .await
                .unwrap();
        }
    }
    let all = things(fs, "d").await;
    assert_eq!(all.len(), if links { 5 } else { 2 });
    all
}

/// Counts the changes that are asked of `inner`.
fn counted(inner: Arc<dyn SessionFileSystem>) -> (Arc<dyn SessionFileSystem>, Arc<AtomicUsize>) {
    let changes = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&changes);
    let sink = Arc::new(move |_: &AuditEvent<'_>| {
        counter.fetch_add(1, Ordering::SeqCst);
    });
    (Arc::new(AuditFileSystem::new(inner, sink)), changes)
}

fn two_mounts(
    head: Arc<dyn SessionFileSystem>,
    docs: Arc<dyn SessionFileSystem>,
) -> MountedFileSystem {
    mounted(head, "docs", docs, RootAccess::ReadWrite)
}

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

/// Which of the two trees fails.
#[derive(Clone, Copy, Debug)]
enum Failing {
    Source,
    Destination,
}

/// Moves `d` while the operation of this number fails, and gives what became of it. `None` when there are fewer.
async fn move_with_fault(failing: Failing, operation: usize, moment: Moment) -> Option<bool> {
    let ((head, _one), (docs, _two)) = (disk(), disk());
    let all = fill(head.as_ref(), true).await;
    let error = || FileSystemError::Io {
        path: WorkspacePath::root(),
        step: "go on with",
        source: std::io::Error::other("the disk is gone for a moment"),
    };
    let faulty = |inner: Arc<DiskFileSystem>| {
        let fault = Fault {
            operation,
            moment,
            error: Arc::new(error),
        };
        Arc::new(FaultyFileSystem::new(inner, fault))
    };
    let (fs, counter) = match failing {
        Failing::Source => {
            let source = faulty(head.clone());
            (two_mounts(source.clone(), docs.clone()), source)
        }
        Failing::Destination => {
            let destination = faulty(docs.clone());
            (two_mounts(head.clone(), destination.clone()), destination)
        }
    };
    let moved = fs
        .rename(&path("d"), &path("/roots/docs/d"), Replace::Never)
        .await;
    if counter.operations() < operation {
        moved.unwrap();
        return None;
    }
    let what = format!("{failing:?} failed at {operation}, {moment:?}: {moved:?}");
    let (left, arrived) = (
        things(head.as_ref(), "d").await,
        things(docs.as_ref(), "d").await,
    );
    for (name, thing) in &all {
        let is_whole = left.get(name) == Some(thing) || arrived.get(name) == Some(thing);
        assert!(is_whole, "{name} is lost: {what}");
    }
    match &moved {
        Ok(()) => {
            assert_eq!(arrived, all, "{what}");
            assert!(left.is_empty(), "{what}");
        }
        Err(FileSystemError::PartialMove { from, to, .. }) => {
            assert_eq!((from, to), (&path("d"), &path("/roots/docs/d")));
            assert_eq!(arrived, all, "{what}");
        }
        Err(_) => assert_eq!(left, all, "the source is not whole: {what}"),
    }
    Some(moved.is_err())
}

/// Proves H07: whichever operation of either tree fails, before or after it is done, nothing is lost, and the move says
/// what is where.
#[tokio::test]
async fn h07_a_move_that_fails_at_any_operation_loses_nothing() {
    for failing in [Failing::Source, Failing::Destination] {
        for moment in [Moment::Before, Moment::After] {
            let (mut operation, mut failures) = (1, 0);
            while let Some(failed) = move_with_fault(failing, operation, moment).await {
                failures += u32::from(failed);
                operation += 1;
            }
            assert!(
                failures > 10,
                "{failing:?}, {moment:?}: {failures} failures"
            );
        }
    }
}

/// Proves H07 and H74: a destination that cannot keep a link or a mode for sure does not cost the source.
#[tokio::test]
async fn h07_h74_links_and_modes_that_may_not_last_are_no_move() {
    let ((head, _one), (docs, _two)) = (disk(), disk());
    let all = fill(head.as_ref(), true).await;
    let unflushed = Arc::new(UnflushedFileSystem::new(docs.clone()));
    let fs = two_mounts(head.clone(), unflushed);
    for from in ["d", "d/latest", "d/bin/run"] {
        let to = path("/roots/docs/new");
        let moved = fs.rename(&path(from), &to, Replace::Never).await;
        assert!(
            matches!(&moved, Err(FileSystemError::Io { .. })),
            "{from}: {moved:?}"
        );
        assert!(names(docs.as_ref(), ".").await.is_empty(), "{from}");
    }
    docs.write_all("there", "old").await.unwrap();
    let (from, to) = (path("d/latest"), path("/roots/docs/there"));
    let moved = fs.rename(&from, &to, Replace::File).await;
    assert!(
        matches!(
            &moved,
            Err(FileSystemError::PartialMove { from: still, to: too, source })
                if (still, too) == (&from, &to) && source.is_of_a_made_change()
        ),
        "{moved:?}"
    );
    assert_eq!(
        docs.read_link(&path("there")).await.unwrap(),
        target("bin/run")
    );
    assert_eq!(things(head.as_ref(), "d").await, all);
}

fn gone_for_a_moment() -> FileSystemError {
    FileSystemError::Io {
        path: WorkspacePath::root(),
        step: "go on with",
        source: std::io::Error::other("the disk is gone for a moment"),
    }
}

/// Moves `d` while these two operations of the destination fail. `None` when the first is never come to; else whether
/// a part of a copy was left.
async fn move_with_two_faults(first: usize, second: usize) -> Option<bool> {
    let ((head, _one), (docs, _two)) = (disk(), disk());
    let all = fill(head.as_ref(), true).await;
    let inner = Arc::new(FaultyFileSystem::failing(
        docs.clone(),
        first,
        gone_for_a_moment,
    ));
    // An operation that fails here does not reach the other, which counts what does.
    let outer = Arc::new(FaultyFileSystem::failing(
        inner.clone(),
        second,
        gone_for_a_moment,
    ));
    let fs = two_mounts(head.clone(), outer);
    let moved = fs
        .rename(&path("d"), &path("/roots/docs/d"), Replace::Never)
        .await;
    if inner.operations() < first {
        return None;
    }
    let what = format!("operations {first} and {second} failed: {moved:?}");
    let left = things(head.as_ref(), "d").await;
    let copied = things(docs.as_ref(), "d").await;
    let is_there = !names(docs.as_ref(), ".").await.is_empty();
    match &moved {
        Ok(()) | Err(FileSystemError::PartialMove { .. }) => assert_eq!(copied, all, "{what}"),
        Err(FileSystemError::PartialCopy { from, to, .. }) => {
            assert_eq!((from, to), (&path("d"), &path("/roots/docs/d")));
            // What cannot be looked at any more is told, too.
            assert_eq!(left, all, "{what}");
        }
        Err(_) => {
            assert_eq!(left, all, "{what}");
            assert!(!is_there, "{what}: {copied:?} is left");
        }
    }
    Some(is_there && matches!(moved, Err(FileSystemError::PartialCopy { .. })))
}

/// Proves H07: when a folder cannot be copied, and the copy not be taken back, the move says that a part of it is left.
#[tokio::test]
async fn h07_a_copy_that_cannot_be_taken_back_is_told() {
    let (mut first, mut told) = (1, 0);
    loop {
        let mut is_reached = false;
        for second in first + 1..first + 5 {
            let left = move_with_two_faults(first, second).await;
            is_reached |= left.is_some();
            told += u32::from(left == Some(true));
        }
        if !is_reached {
            break;
        }
        first += 1;
    }
    assert!(told > 10, "a part of a copy was left {told} times");
}

/// Proves H07 and H23: a folder that holds what listings do not show, such as a repository, is not moved to another
/// mount, and nothing of it is.
#[tokio::test]
async fn h07_h23_what_listings_hide_is_not_torn_apart() {
    for (hidden, is_git) in [
        ("d/sub/.git/config", true),
        ("d/.git", true),
        ("d/sub/.GIT/x", true),
        ("d/sub/.everruns-tmp-0", false),
        ("d/hidden-by-policy", false),
    ] {
        let ((inner, folder), (docs, _two)) = (disk(), disk());
        let all = fill(inner.as_ref(), true).await;
        inner.write_all("d/sub/x", "x").await.unwrap();
        let at = folder.path().join("tree").join(hidden);
        std::fs::create_dir_all(at.parent().unwrap()).unwrap();
        std::fs::write(&at, "hidden").unwrap();
        let policy = WorkspacePolicy::builder()
            .allow_write("**")
            .deny_read("**/hidden-by-policy")
            .build()
            .unwrap();
        let head: Arc<dyn SessionFileSystem> = match hidden {
            "d/hidden-by-policy" => Arc::new(PolicyFileSystem::new(inner.clone(), policy)),
            _ => inner.clone(),
        };
        let (audited, changes) = counted(docs.clone());
        let fs = two_mounts(head, audited);
        let to = path("/roots/docs/d");
        let moved = fs.rename(&path("d"), &to, Replace::Never).await;
        let is_told = match &moved {
            Err(FileSystemError::GitInternal { .. }) => is_git,
            Err(FileSystemError::InvalidOperation { .. }) => !is_git,
            _ => false,
        };
        assert!(is_told, "{hidden}: {moved:?}");
        assert_eq!(changes.load(Ordering::SeqCst), 0, "{hidden}");
        assert_eq!(std::fs::read(&at).unwrap(), b"hidden");
        let left = things(inner.as_ref(), "d").await;
        assert!(
            all.iter()
                .all(|(name, thing)| left.get(name) == Some(thing)),
            "{hidden}"
        );
    }
}

/// Proves H55 and H07: a move of links and executable files that nobody waits for is not made, or made to its end.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn h55_h07_a_dropped_move_of_links_is_made_or_not() {
    let mut made = 0;
    for round in 0..30 {
        let ((head, _one), (docs, _two)) = (disk(), disk());
        let all = fill(head.as_ref(), true).await;
        let fs = two_mounts(head.clone(), docs.clone());
        let (from, to) = (path("d"), path("/roots/docs/d"));
        let moving = fs.rename(&from, &to, Replace::Never);
        let patience = Duration::from_micros(round * 150);
        drop(tokio::time::timeout(patience, moving).await);
        let began = Instant::now();
        loop {
            let (left, moved) = (
                names(head.as_ref(), ".").await,
                names(docs.as_ref(), ".").await,
            );
            if moved.is_empty() && began.elapsed() > Duration::from_millis(300) {
                assert_eq!(things(head.as_ref(), "d").await, all);
                break;
            }
            if left.is_empty() {
                assert_eq!(things(docs.as_ref(), "d").await, all);
                made += 1;
                break;
            }
            assert!(
                began.elapsed() < Duration::from_secs(20),
                "half a move is left"
            );
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }
    assert!(made > 0, "no move was begun");
}

/// A link that somebody changes between the copy and the removal is theirs: it stays.
#[tokio::test]
async fn h07_a_link_that_changes_while_it_moves_stays() {
    let ((head, folder), docs) = (disk(), disk());
    let (docs, _other) = docs;
    let made = head
        .create_link(&path("link"), &target("a"), Replace::Never)
        .await;
    made.unwrap();
    let link = folder.path().join("tree/link");
    let changed = Arc::new(Forgetful::new(
        docs.clone(),
        Forgets::NothingButCalls(Arc::new(move || {
            std::fs::remove_file(&link).unwrap();
            symlink("his", &link).unwrap();
        })),
    ));
    let fs = two_mounts(head.clone(), changed);
    let moved = fs
        .rename(&path("link"), &path("/roots/docs/link"), Replace::Never)
        .await;
    assert!(
        matches!(moved, Err(FileSystemError::PartialMove { .. })),
        "{moved:?}"
    );
    assert_eq!(head.read_link(&path("link")).await.unwrap(), target("his"));
    assert_eq!(docs.read_link(&path("link")).await.unwrap(), target("a"));
}

/// The tree in memory says what it cannot hold.
#[tokio::test]
async fn memory_refuses_links_and_changes_nothing() {
    let files = MemoryFileSystem::new();
    let made = files
        .create_link(&path("link"), &target("a"), Replace::Never)
        .await;
    assert!(matches!(made, Err(FileSystemError::Unsupported { .. })));
    assert!(names(&files, ".").await.is_empty());
}

/// One entry below `d`: its path there, and what it is.
#[derive(Clone, Debug)]
enum Made {
    File(String, u8, bool),
    Link(String, String),
}

fn any_made() -> impl Strategy<Value = Made> {
    let name = || prop::sample::select(vec!["a", "b", "c"]);
    let at = || prop::collection::vec(name(), 1..4).prop_map(|parts| parts.join("/"));
    let part = prop::sample::select(vec!["a", "b", "..", "..", ".", "", "\u{e9} x"]);
    let text = prop::collection::vec(part, 1..6).prop_map(|parts| parts.join("/"));
    let text = text.prop_filter("an empty text is none", |text| !text.is_empty());
    prop_oneof![
        (at(), any::<u8>(), any::<bool>())
            .prop_map(|(at, byte, executable)| Made::File(at, byte, executable)),
        (at(), text).prop_map(|(at, text)| Made::Link(at, text)),
    ]
}

/// Whether a link with this text leaves a tree from a folder so many levels below its top.
fn leaves(text: &str, mut depth: usize) -> bool {
    if text.starts_with('/') {
        return true;
    }
    for part in text.split('/') {
        match part {
            "" | "." => {}
            ".." if depth == 0 => return true,
            ".." => depth -= 1,
            _ => depth += 1,
        }
    }
    false
}

async fn check_random(made: &[Made], to: &str, resolution: Resolution) {
    let ((head, folder), (docs, _other)) =
        (disk_resolved_by(resolution), disk_resolved_by(resolution));
    let tree = folder.path().join("tree/d");
    std::fs::create_dir(&tree).unwrap();
    let levels = to.split('/').count();
    let mut any_leaves = false;
    for one in made {
        let (Made::File(at, ..) | Made::Link(at, _)) = one;
        let on_host = tree.join(at);
        // Some are in each other's way, and some folders are links by now.
        let parent = on_host.parent().unwrap();
        let is_free = parent
            .ancestors()
            .take_while(|at| *at != tree)
            .all(|at| !at.is_symlink())
            && std::fs::create_dir_all(parent).is_ok()
            && std::fs::symlink_metadata(&on_host).is_err();
        if !is_free {
            continue;
        }
        match one {
            Made::File(_, byte, executable) => {
                std::fs::write(&on_host, [*byte]).unwrap();
                let mode = if *executable { 0o755 } else { 0o644 };
                std::fs::set_permissions(&on_host, PermissionsExt::from_mode(mode)).unwrap();
            }
            Made::Link(at, text) => {
                symlink(text, &on_host).unwrap();
                any_leaves |= leaves(text, levels + at.split('/').count() - 1);
            }
        }
    }
    let all = things(head.as_ref(), "d").await;
    let (audited, changes) = counted(docs.clone());
    let fs = two_mounts(head.clone(), audited);
    let there = format!("/roots/docs/{to}");
    let moved = fs.rename(&path("d"), &path(&there), Replace::Never).await;
    if any_leaves {
        assert!(
            matches!(moved, Err(FileSystemError::Escapes { .. })),
            "{moved:?}"
        );
        assert_eq!(things(head.as_ref(), "d").await, all);
        assert_eq!(changes.load(Ordering::SeqCst), 0, "something was copied");
        return;
    }
    moved.unwrap();
    assert!(names(head.as_ref(), ".").await.is_empty());
    assert_eq!(things(docs.as_ref(), to).await, all);
    let back = fs.rename(&path(&there), &path("d"), Replace::Never).await;
    let returns = |one: &(&String, &Thing)| match one.1 {
        Thing::Link(text) => {
            let text = String::from_utf8(text.as_bytes().to_vec()).unwrap();
            leaves(&text, one.0.trim_start_matches('/').split('/').count())
        }
        Thing::File(..) => false,
    };
    if all.iter().any(|one| returns(&one)) {
        assert!(
            matches!(back, Err(FileSystemError::Escapes { .. })),
            "{back:?}"
        );
    } else {
        back.unwrap();
        assert_eq!(things(head.as_ref(), "d").await, all);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]

    /// Proves H07 and H10: any folder of files, executable files and links moves to another tree and back as it is, or,
    /// when one of its links would leave its new tree, not at all.
    #[test]
    fn h07_h10_random_folders_arrive_as_they_were_or_stay(
        made in prop::collection::vec(any_made(), 1..10),
        to in prop::sample::select(vec!["d", "x/d", "x/y/z/d"]),
        walked in any::<bool>(),
    ) {
        let resolution = if walked { Resolution::Walk } else { Resolution::Auto };
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(check_random(&made, to, resolution));
    }
}
