//! Folders of random entries.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::sync::atomic::Ordering;

use everruns_core::file_system::{FileSystemError, Replace, SessionFileSystem as _};
use everruns_fs::disk::Resolution;
use proptest::prelude::*;

use crate::support::{disk_resolved_by, names, path};

use super::{Thing, counted, things, two_mounts};

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
