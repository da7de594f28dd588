use everruns_core::file_system::{
    FileKind, FileSystemError, PageRequest, Precondition, Removal, Replace, SessionFileSystem as _,
    SessionFileSystemExt as _,
};

use crate::support::{each_resolution, path};

#[tokio::test]
async fn pages_of_a_listing_are_sorted_and_complete() {
    each_resolution(|fixture| async move {
        let mut names: Vec<_> = (0..57).map(|n| format!("f{}", n * 7919 % 1000)).collect();
        names.push(".hidden".to_owned());
        names.push("line\nbreak".to_owned());
        for name in &names {
            fixture.put(&format!("d/{name}"), "x");
        }
        fixture.put("d/.everruns-tmp-0123", "not shown");
        names.sort();
        let mut listed = Vec::new();
        let mut request = PageRequest {
            after: None,
            limit: 10,
        };
        loop {
            let page = fixture
                .files
                .list(&path("d"), request.clone())
                .await
                .unwrap();
            assert!(page.entries.len() <= 10);
            listed.extend(page.entries.into_iter().map(|entry| entry.name));
            match page.next {
                Some(next) => request.after = Some(next),
                None => break,
            }
        }
        assert_eq!(listed, names);
        let one = PageRequest {
            after: None,
            limit: 0,
        };
        let page = fixture.files.list(&path("d"), one).await.unwrap();
        assert_eq!(page.entries.len(), 1);
    })
    .await;
}

#[tokio::test]
async fn wrong_kinds_are_typed_errors() {
    each_resolution(|fixture| async move {
        fixture.put("file", "x");
        fixture.put("folder/a", "x");
        let files = &fixture.files;
        let error = files.read_all("folder").await.unwrap_err();
        assert!(
            matches!(
                error,
                FileSystemError::NotAFile {
                    kind: FileKind::Directory,
                    ..
                }
            ),
            "{error}"
        );
        for text in ["folder", "."] {
            let error = files.write_all(text, "x").await.unwrap_err();
            assert!(
                matches!(
                    error,
                    FileSystemError::NotAFile {
                        kind: FileKind::Directory,
                        ..
                    }
                ),
                "{error}"
            );
        }
        for text in ["file/x", "file/x/y"] {
            let error = files.read_all(text).await.unwrap_err();
            assert!(
                matches!(error, FileSystemError::NotADirectory { .. }),
                "{error}"
            );
            let error = files.write_all(text, "x").await.unwrap_err();
            assert!(
                matches!(error, FileSystemError::NotADirectory { .. }),
                "{error}"
            );
            let error = files.create_dir(&path(text)).await.unwrap_err();
            assert!(
                matches!(error, FileSystemError::NotADirectory { .. }),
                "{error}"
            );
        }
        let error = files.create_dir(&path("file")).await.unwrap_err();
        assert!(
            matches!(error, FileSystemError::NotADirectory { .. }),
            "{error}"
        );
        let error = files.list_all(&path("file")).await.unwrap_err();
        assert!(
            matches!(error, FileSystemError::NotADirectory { .. }),
            "{error}"
        );
        let error = files.list_all(&path("none")).await.unwrap_err();
        assert!(matches!(error, FileSystemError::NotFound { .. }), "{error}");
        files.create_dir(&path("folder")).await.unwrap();
        files.create_dir(&path(".")).await.unwrap();
        files.create_dir(&path("x/y/z")).await.unwrap();
        assert!(fixture.root.join("x/y/z").is_dir());
        let long = "x".repeat(255);
        files.write_all(&long, "x").await.unwrap();
        files
            .remove(&path(&long), Removal::Entry, Precondition::Any)
            .await
            .unwrap();
    })
    .await;
}

#[tokio::test]
async fn moves_replace_only_what_they_may() {
    each_resolution(|fixture| async move {
        fixture.put("a", "a");
        fixture.put("b", "b");
        fixture.put("full/x", "x");
        std::fs::create_dir(fixture.root.join("empty")).unwrap();
        let files = &fixture.files;
        let fails = |from: &'static str, to: &'static str, replace| async move {
            files
                .rename(&path(from), &path(to), replace)
                .await
                .unwrap_err()
        };
        assert!(matches!(
            fails("a", "b", Replace::Never).await,
            FileSystemError::AlreadyExists { .. }
        ));
        assert!(matches!(
            fails("a", "a", Replace::Never).await,
            FileSystemError::AlreadyExists { .. }
        ));
        assert!(matches!(
            fails("none", "c/d", Replace::Never).await,
            FileSystemError::NotFound { .. }
        ));
        assert!(!fixture.root.join("c").exists());
        for folder in ["empty", "full"] {
            assert!(matches!(
                fails("a", folder, Replace::File).await,
                FileSystemError::NotAFile { .. }
            ));
            assert!(matches!(
                fails("a", folder, Replace::Never).await,
                FileSystemError::AlreadyExists { .. }
            ));
        }
        assert!(matches!(
            fails("full", "empty", Replace::File).await,
            FileSystemError::AlreadyExists { .. }
        ));
        assert!(matches!(
            fails("full", "b", Replace::File).await,
            FileSystemError::AlreadyExists { .. }
        ));
        assert!(matches!(
            fails("full", "full/x/y", Replace::Never).await,
            FileSystemError::InvalidOperation { .. }
        ));
        assert!(matches!(
            fails(".", "c", Replace::Never).await,
            FileSystemError::InvalidOperation { .. }
        ));
        assert!(matches!(
            fails("a", ".", Replace::Never).await,
            FileSystemError::AlreadyExists { .. }
        ));
        fixture.link("full", "alias");
        assert!(matches!(
            fails("full", "alias/sub", Replace::Never).await,
            FileSystemError::InvalidOperation { .. }
        ));
        files
            .rename(&path("a"), &path("a"), Replace::File)
            .await
            .unwrap();
        files
            .rename(&path("a"), &path("b"), Replace::File)
            .await
            .unwrap();
        assert_eq!(fixture.bytes("b"), b"a");
        files
            .rename(&path("full"), &path("new/place"), Replace::Never)
            .await
            .unwrap();
        assert_eq!(fixture.bytes("new/place/x"), b"x");
    })
    .await;
}

/// The names of temporary files are reserved.
#[tokio::test]
async fn temporary_names_are_no_part_of_the_tree() {
    each_resolution(|fixture| async move {
        fixture.put(".everruns-tmp-1", "x");
        let files = &fixture.files;
        let error = files.read_all(".everruns-tmp-1").await.unwrap_err();
        assert!(matches!(error, FileSystemError::NotFound { .. }), "{error}");
        let error = files.write_all(".everruns-tmp-2", "x").await.unwrap_err();
        assert!(
            matches!(error, FileSystemError::InvalidOperation { .. }),
            "{error}"
        );
        assert_eq!(files.list_all(&path(".")).await.unwrap(), []);
    })
    .await;
}
