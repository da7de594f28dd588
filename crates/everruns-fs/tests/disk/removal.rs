use std::path::Path;

use everruns_core::file_system::{
    ContentVersion, FileSystemError, Precondition, Removal, SessionFileSystem as _,
};

use crate::support::{each_resolution, path};

/// Proves H17: links in a removed folder are removed as links.
#[tokio::test]
async fn h17_a_recursive_removal_follows_no_link() {
    each_resolution(|fixture| async move {
        fixture.put("a/b/c/file", "x");
        fixture.put("kept/file", "x");
        fixture.link(&fixture.outside, "a/absolute");
        fixture.link("../../head-evil", "a/relative");
        fixture.link("../../kept", "a/b/inside");
        fixture.link("../../../head-evil/secret", "a/b/file");
        let files = &fixture.files;
        let error = files
            .remove(&path("a"), Removal::Entry, Precondition::Any)
            .await
            .unwrap_err();
        assert!(
            matches!(error, FileSystemError::DirectoryNotEmpty { .. }),
            "{error}"
        );
        files
            .remove(&path("a"), Removal::Recursive, Precondition::Any)
            .await
            .unwrap();
        assert!(!fixture.root.join("a").exists());
        assert_eq!(fixture.bytes("kept/file"), b"x");
        fixture.assert_outside_untouched();
    })
    .await;
}

/// Removes a folder in which somebody else makes and removes entries, too.
fn remove_all(folder: &Path) {
    while folder.exists() {
        drop(std::fs::remove_dir_all(folder));
    }
}

/// Proves H17: a folder swapped for a link in the middle of its removal stays inside.
#[tokio::test(flavor = "multi_thread")]
async fn h17_a_folder_swapped_for_a_link_meanwhile_stays_inside() {
    each_resolution(|fixture| async move {
        let (root, outside) = (fixture.root.clone(), fixture.outside.clone());
        let stop = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
        let stopped = std::sync::Arc::clone(&stop);
        let swapper = std::thread::spawn(move || {
            let folder = root.join("a/swapped");
            let aside = root.join("aside");
            while !stopped.load(std::sync::atomic::Ordering::Relaxed) {
                if std::fs::rename(&folder, &aside).is_ok() {
                    // Fails when the folder above is gone already.
                    drop(std::os::unix::fs::symlink(&outside, &folder));
                    remove_all(&aside);
                }
            }
        });
        for _ in 0..100 {
            // Made aside, so that the test itself writes nothing through a swapped link.
            for name in ["secret", "other", "sub/secret"] {
                fixture.put(&format!("made/swapped/{name}"), "x");
            }
            std::fs::rename(fixture.root.join("made"), fixture.root.join("a")).unwrap();
            let removed = fixture
                .files
                .remove(&path("a"), Removal::Recursive, Precondition::Any)
                .await;
            match removed {
                // The swapper may put a link into a folder that was just emptied.
                Ok(()) | Err(FileSystemError::DirectoryNotEmpty { .. }) => {}
                Err(error) => panic!("{error}"),
            }
            remove_all(&fixture.root.join("a"));
        }
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        swapper.join().unwrap();
        fixture.assert_outside_untouched();
    })
    .await;
}

#[tokio::test]
async fn a_removal_heeds_its_precondition() {
    each_resolution(|fixture| async move {
        fixture.put("a", "one");
        fixture.put("folder/x", "x");
        fixture.link("a", "link");
        let files = &fixture.files;
        let right = Precondition::Matches(ContentVersion::of(b"one"));
        let wrong = Precondition::Matches(ContentVersion::of(b"two"));
        for precondition in [wrong, Precondition::Absent] {
            let error = files
                .remove(&path("a"), Removal::Entry, precondition)
                .await
                .unwrap_err();
            let one = ContentVersion::of(b"one");
            assert!(
                matches!(error, FileSystemError::Conflict { current: Some(v), .. } if v == one),
                "{error}"
            );
        }
        for text in ["folder", "link"] {
            let error = files
                .remove(&path(text), Removal::Recursive, right)
                .await
                .unwrap_err();
            assert!(matches!(error, FileSystemError::NotAFile { .. }), "{error}");
        }
        files
            .remove(&path("a"), Removal::Entry, right)
            .await
            .unwrap();
        let error = files
            .remove(&path("a"), Removal::Entry, Precondition::Any)
            .await
            .unwrap_err();
        assert!(matches!(error, FileSystemError::NotFound { .. }), "{error}");
        let error = files
            .remove(&path("."), Removal::Recursive, Precondition::Any)
            .await
            .unwrap_err();
        assert!(
            matches!(error, FileSystemError::InvalidOperation { .. }),
            "{error}"
        );
        fixture.assert_no_leftovers();
    })
    .await;
}
