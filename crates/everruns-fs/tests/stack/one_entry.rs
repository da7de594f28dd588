//! Moves between two mounts whose ends are one entry, or one inside the other: they do as within one tree.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::Arc;

use everruns_core::file_system::{
    ContentVersion, FileKind, FileSystemError, LinkTarget, Replace, SessionFileSystem,
    SessionFileSystemExt as _,
};
use everruns_fs::disk::{DiskFileSystem, DiskOptions, Resolution};
use everruns_fs::{MountedFileSystem, RootAccess, WorkspaceRootSet};

use crate::forgetful::{Forgetful, Forgets};
use crate::support::{disk, disk_resolved_by, memory, mounted, path, root, text};

/// Two mounts that overlap: where the entry `d/e` of the head lies by the name of the root `rw`.
struct Overlap {
    fs: MountedFileSystem,
    head: Arc<dyn SessionFileSystem>,
    below_root: &'static str,
    has_links: bool,
    what: String,
    _folder: Option<tempfile::TempDir>,
}

fn open(at: &Path, locks: &Path, resolution: Resolution) -> Arc<DiskFileSystem> {
    let options = DiskOptions::new(locks).resolution(resolution);
    Arc::new(DiskFileSystem::open(at, options).unwrap())
}

async fn overlaps(forget: bool) -> Vec<Overlap> {
    let mut all = Vec::new();
    for resolution in [Resolution::Kernel, Resolution::Walk] {
        for (inside, below_root) in [
            ("", "/roots/rw/d/e"),
            ("d", "/roots/rw/e"),
            ("d/e", "/roots/rw"),
            // By way of a link in the root's own tree.
            ("", "/roots/rw/alias/e"),
        ] {
            let (head, folder) = disk_resolved_by(resolution);
            let tree = folder.path().join("tree");
            std::fs::create_dir_all(tree.join("d/e/g")).unwrap();
            symlink("d", tree.join("alias")).unwrap();
            let locks = folder.path().join("locks2");
            let files = open(&tree.join(inside), &locks, resolution);
            let files: Arc<dyn SessionFileSystem> = if forget {
                Arc::new(Forgetful::new(files, Forgets::Identities))
            } else {
                files
            };
            all.push(Overlap {
                fs: mounted(head.clone(), "rw", files, RootAccess::ReadWrite),
                head,
                below_root,
                has_links: true,
                what: format!("{inside:?} on disk, {resolution:?}"),
                _folder: Some(folder),
            });
        }
    }
    // It has no place on the host by which the overlap could be known.
    let head = memory(&[("d/e/g/kept", "kept")]).await;
    all.push(Overlap {
        fs: mounted(
            head.clone(),
            "rw",
            Arc::new((*head).clone()),
            RootAccess::ReadWrite,
        ),
        head,
        below_root: "/roots/rw/d/e",
        has_links: false,
        what: "in memory".to_owned(),
        _folder: None,
    });
    all
}

type Outcome = Result<(), std::mem::Discriminant<FileSystemError>>;

fn outcome(moved: &Result<(), FileSystemError>) -> Outcome {
    moved.as_ref().map(drop).map_err(std::mem::discriminant)
}

/// Proves H07, H06 and C08: a file or link that moves to itself by the name of another mount stays, and what is answered
/// is what the tree itself answers.
#[tokio::test]
async fn h07_h06_c08_a_move_to_another_name_of_the_same_entry_loses_nothing() {
    for overlap in overlaps(false).await {
        let Overlap { fs, head, what, .. } = &overlap;
        let (own, other) = ("d/e/f".to_owned(), format!("{}/f", overlap.below_root));
        let link = LinkTarget::new("g").unwrap();
        for is_link in [false, true] {
            if is_link && !overlap.has_links {
                continue;
            }
            let version = ContentVersion::of(b"bytes");
            for replace in [
                Replace::File,
                Replace::Never,
                Replace::Matches(version),
                Replace::Matches(ContentVersion::of(b"other")),
            ] {
                if is_link {
                    let made = head.create_link(&path(&own), &link, Replace::File).await;
                    made.unwrap();
                } else {
                    head.write_all(&own, "bytes").await.unwrap();
                }
                let within = head.rename(&path(&own), &path(&own), replace).await;
                for (from, to) in [(&own, &other), (&other, &own)] {
                    let moved = fs.rename(&path(from), &path(to), replace).await;
                    let case = format!("{what}: {from} to {to}, {replace:?}: {moved:?}");
                    assert_eq!(outcome(&moved), outcome(&within), "{case}");
                    if let Err(error) = moved {
                        assert!(error.to_string().contains(&path(to).to_string()), "{case}");
                    }
                    if is_link {
                        let said = head.read_link(&path(&own)).await;
                        assert_eq!(said.expect(&case), link);
                    } else {
                        assert_eq!(text(head.as_ref(), &own).await.expect(&case), "bytes");
                    }
                }
            }
        }
    }
}

/// Proves H07 and H06: a folder that moves into itself by the name of another mount is left alone.
#[tokio::test]
async fn h07_h06_a_folder_does_not_move_into_itself_by_another_name() {
    for overlap in overlaps(false).await {
        let Overlap { fs, head, what, .. } = &overlap;
        head.write_all("d/e/g/kept", "kept").await.unwrap();
        head.write_all("d/a", "a").await.unwrap();
        let below = overlap.below_root;
        for (from, to) in [
            ("d", format!("{below}/x")),
            ("d", format!("{below}/g")),
            ("d", format!("{below}/g/new/deep/x")),
            ("d/e", format!("{below}/g/x")),
            ("d/e/g", format!("{below}/g/x")),
        ] {
            for replace in [Replace::Never, Replace::File] {
                let moved = fs.rename(&path(from), &path(&to), replace).await;
                let is_told = matches!(
                    &moved,
                    Err(FileSystemError::InvalidOperation { path: at, .. }) if *at == path(&to)
                );
                assert!(is_told, "{what}: {from} to {to}: {moved:?}");
                assert_eq!(text(head.as_ref(), "d/e/g/kept").await.unwrap(), "kept");
                assert_eq!(text(head.as_ref(), "d/a").await.unwrap(), "a");
                let left = head.list_all(&path("d/e/g")).await.unwrap();
                assert_eq!(left.len(), 1, "{what}: {from} to {to}");
            }
        }
        // Out of itself is a move like any other, as is a folder to the other mount's own name for its neighbour.
        let (from, to) = (format!("{below}/g"), path("beside"));
        fs.rename(&path(&from), &to, Replace::Never).await.unwrap();
        assert_eq!(text(head.as_ref(), "beside/kept").await.unwrap(), "kept");
        let gone = head.stat(&path("d/e/g")).await;
        assert!(matches!(gone, Err(FileSystemError::NotFound { .. })));
    }
}

/// Proves H07 and H06: hard links are two entries, and what moves is left under one name.
#[tokio::test]
async fn h07_h06_two_names_of_one_file_in_two_mounts_become_one() {
    let ((head, one), (docs, two)) = (disk(), disk());
    let fs = mounted(head.clone(), "docs", docs.clone(), RootAccess::ReadWrite);
    for replace in [
        Replace::File,
        Replace::Matches(ContentVersion::of(b"shared")),
    ] {
        head.write_all("a", "shared").await.unwrap();
        let (a, b) = (one.path().join("tree/a"), two.path().join("tree/b"));
        drop(std::fs::remove_file(&b));
        std::fs::hard_link(a, b).unwrap();
        let moved = fs.rename(&path("a"), &path("/roots/docs/b"), replace).await;
        moved.unwrap();
        assert_eq!(text(docs.as_ref(), "b").await.unwrap(), "shared");
        let gone = head.stat(&path("a")).await;
        assert!(matches!(gone, Err(FileSystemError::NotFound { .. })));
    }
    // Two names in one folder that two mounts show.
    let twin = open(
        &one.path().join("tree"),
        &one.path().join("locks2"),
        Resolution::Auto,
    );
    let fs = mounted(head.clone(), "twin", twin, RootAccess::ReadWrite);
    head.write_all("a", "shared").await.unwrap();
    let tree = one.path().join("tree");
    std::fs::hard_link(tree.join("a"), tree.join("b")).unwrap();
    let to = path("/roots/twin/b");
    fs.rename(&path("a"), &to, Replace::File).await.unwrap();
    assert_eq!(text(head.as_ref(), "b").await.unwrap(), "shared");
    assert!(head.stat(&path("a")).await.is_err());
}

/// Proves H07: trees that do not tell which entries are one lose nothing either.
#[tokio::test]
async fn h07_a_move_between_trees_that_cannot_tell_loses_nothing() {
    for overlap in overlaps(true).await {
        let Overlap { fs, head, what, .. } = &overlap;
        if !overlap.has_links {
            continue;
        }
        let other = format!("{}/f", overlap.below_root);
        for is_link in [false, true] {
            let link = LinkTarget::new("g").unwrap();
            if is_link {
                let made = head.create_link(&path("d/e/f"), &link, Replace::File).await;
                made.unwrap();
            } else {
                head.write_all("d/e/f", "bytes").await.unwrap();
            }
            let moved = fs
                .rename(&path("d/e/f"), &path(&other), Replace::File)
                .await;
            assert!(
                matches!(moved, Err(FileSystemError::InvalidOperation { .. })),
                "{what}: {moved:?}"
            );
            let kind = head.stat(&path("d/e/f")).await.unwrap().kind;
            assert_eq!(kind == FileKind::Symlink, is_link, "{what}");
        }
    }
    // One and the same handle needs no help, and what differs is replaced.
    let (head, _folder) = disk();
    let forgetful = Arc::new(Forgetful::new(head.clone(), Forgets::Identities));
    let roots = WorkspaceRootSet::new()
        .with_root(root("rw"), forgetful.clone(), RootAccess::ReadWrite)
        .unwrap();
    let fs = MountedFileSystem::new(forgetful, roots);
    head.write_all("f", "bytes").await.unwrap();
    head.write_all("other", "old").await.unwrap();
    let (from, same, to) = (path("f"), path("/roots/rw/f"), path("/roots/rw/other"));
    fs.rename(&from, &same, Replace::File).await.unwrap();
    assert_eq!(text(head.as_ref(), "f").await.unwrap(), "bytes");
    fs.rename(&from, &to, Replace::File).await.unwrap();
    assert_eq!(text(head.as_ref(), "other").await.unwrap(), "bytes");
}

/// Proves H07: when somebody exchanges folders so that a copy and its source become one entry, it is not removed.
#[tokio::test]
async fn h07_a_source_that_became_its_copy_is_not_removed() {
    let (head, folder) = disk();
    let tree = folder.path().join("tree");
    let made = head
        .create_link(&path("a/f"), &LinkTarget::new("x").unwrap(), Replace::Never)
        .await;
    made.unwrap();
    std::fs::create_dir(tree.join("b")).unwrap();
    let twin = open(&tree, &folder.path().join("locks2"), Resolution::Auto);
    let swapped = tree.clone();
    let twin = Arc::new(Forgetful::new(
        twin,
        Forgets::NothingButCalls(Arc::new(move || {
            std::fs::remove_dir_all(swapped.join("b")).unwrap();
            symlink("a", swapped.join("b")).unwrap();
        })),
    ));
    let fs = mounted(head.clone(), "twin", twin, RootAccess::ReadWrite);
    let moved = fs
        .rename(&path("a/f"), &path("/roots/twin/b/f"), Replace::Never)
        .await;
    assert!(moved.is_err(), "{moved:?}");
    assert!(tree.join("a/f").is_symlink(), "the only one is lost");
}
