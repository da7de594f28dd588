use everruns_core::file_system::{
    ContentVersion, FileKind, FileSystemError, LastLink, Precondition, ReadRange, Removal, Replace,
    SessionFileSystem as _, SessionFileSystemExt as _,
};

use crate::support::{each_resolution, path};

/// Proves H11: nothing is made where a dangling link points to, inside or outside.
#[tokio::test]
async fn h11_writes_through_dangling_links_are_refused() {
    each_resolution(|fixture| async move {
        fixture.link("../head-evil/new", "out");
        fixture.link("nowhere", "in");
        fixture.link("no-folder", "folder");
        let files = &fixture.files;
        for text in ["out", "in", "folder/file"] {
            for precondition in [Precondition::Any, Precondition::Absent] {
                let error = files
                    .write(&path(text), "x".into(), precondition)
                    .await
                    .unwrap_err();
                assert!(
                    matches!(error, FileSystemError::Escapes { .. }),
                    "{text}: {error}"
                );
            }
        }
        for text in ["in", "folder"] {
            let error = files.create_dir(&path(text)).await.unwrap_err();
            assert!(matches!(error, FileSystemError::Escapes { .. }), "{error}");
            let error = files.read_all(text).await.unwrap_err();
            assert!(matches!(error, FileSystemError::NotFound { .. }), "{error}");
        }
        assert!(!fixture.root.join("nowhere").exists());
        assert!(!fixture.root.join("no-folder").exists());
        fixture.assert_outside_untouched();
        fixture.assert_no_leftovers();
    })
    .await;
}

/// Proves H13: loops and endless chains end in a typed error.
#[tokio::test]
async fn h13_link_loops_are_typed_errors() {
    each_resolution(|fixture| async move {
        fixture.link("loop", "loop");
        fixture.link("b", "a");
        fixture.link("a", "b");
        fixture.link("grow/grow", "grow");
        fixture.put("chain/0", "end");
        for n in 1..100 {
            fixture.link((n - 1).to_string(), &format!("chain/{n}"));
        }
        let files = &fixture.files;
        for text in ["loop", "a", "a/x", "grow", "chain/99"] {
            let error = files.read_all(text).await.unwrap_err();
            assert!(
                matches!(error, FileSystemError::LinkLoop { .. }),
                "{text}: {error}"
            );
            let error = files.write_all(text, "x").await.unwrap_err();
            assert!(
                matches!(error, FileSystemError::LinkLoop { .. }),
                "{text}: {error}"
            );
        }
        assert_eq!(files.read_all("chain/40").await.unwrap(), "end");
    })
    .await;
}

/// Proves H18: links that stay inside work, and stay links.
#[tokio::test]
async fn h18_links_inside_work_and_stay_links() {
    each_resolution(|fixture| async move {
        fixture.put("real/file", "one");
        fixture.link("real/file", "file");
        fixture.link("real", "folder");
        fixture.link("../real/./../real/file", "other/winding");
        let files = &fixture.files;
        for text in ["file", "folder/file", "other/winding"] {
            let content = files.read(&path(text), ReadRange::ALL).await.unwrap();
            let new = format!("by {text}");
            files
                .write(
                    &path(text),
                    new.clone().into(),
                    Precondition::Matches(content.version()),
                )
                .await
                .unwrap();
            assert_eq!(fixture.bytes("real/file"), new.as_bytes());
        }
        for text in ["file", "folder", "other/winding"] {
            let stat = files.stat(&path(text)).await.unwrap();
            assert_eq!(stat.kind, FileKind::Symlink, "{text}");
        }
        files.write_all("folder/new/deep", "x").await.unwrap();
        assert_eq!(fixture.bytes("real/new/deep"), b"x");
        let names: Vec<_> = files
            .list_all(&path("folder"))
            .await
            .unwrap()
            .into_iter()
            .map(|entry| entry.name)
            .collect();
        assert_eq!(names, ["file", "new"]);
        files
            .rename(&path("file"), &path("moved"), Replace::Never)
            .await
            .unwrap();
        assert!(fixture.root.join("moved").is_symlink());
        files
            .remove(&path("folder"), Removal::Recursive, Precondition::Any)
            .await
            .unwrap();
        assert_eq!(fixture.bytes("real/new/deep"), b"x");
    })
    .await;
}

#[tokio::test]
async fn a_path_resolves_to_where_the_tree_keeps_it() {
    each_resolution(|fixture| async move {
        fixture.put("real/file", "x");
        fixture.put("plain", "x");
        fixture.link("real", "folder");
        fixture.link("folder/file", "file");
        fixture.link("nowhere", "dangling");
        fixture.link(".git/config", "config");
        fixture.link("../head-evil", "out");
        let files = &fixture.files;
        for (text, last, expected) in [
            ("real/file", LastLink::Follow, "real/file"),
            ("folder/file", LastLink::Keep, "real/file"),
            ("file", LastLink::Follow, "real/file"),
            ("file", LastLink::Keep, "file"),
            ("dangling", LastLink::Keep, "dangling"),
            ("folder/new/deep", LastLink::Follow, "real/new/deep"),
            ("new/deep/er", LastLink::Keep, "new/deep/er"),
            (".", LastLink::Follow, "."),
        ] {
            let resolved = files.resolve(&path(text), last).await.unwrap();
            assert_eq!(resolved, path(expected), "{text} {last:?}");
        }
        let error = |text: &'static str| async move {
            files
                .resolve(&path(text), LastLink::Follow)
                .await
                .unwrap_err()
        };
        assert!(matches!(
            error("dangling").await,
            FileSystemError::NotFound { .. }
        ));
        assert!(matches!(
            error("dangling/x").await,
            FileSystemError::NotFound { .. }
        ));
        assert!(matches!(
            error("config").await,
            FileSystemError::GitInternal { .. }
        ));
        assert!(matches!(
            error("out/x").await,
            FileSystemError::Escapes { .. }
        ));
        assert!(matches!(
            error("plain/x").await,
            FileSystemError::NotADirectory { .. }
        ));
    })
    .await;
}

/// A move from one name of a file to another leaves one of them.
#[tokio::test]
async fn h15_two_names_of_one_file_become_one() {
    each_resolution(|fixture| async move {
        for (to, by_version) in [("hard", false), ("sub/hard", false), ("hard", true)] {
            fixture.put("a", "x");
            std::fs::create_dir_all(fixture.root.join("sub")).unwrap();
            std::fs::hard_link(fixture.root.join("a"), fixture.root.join(to)).unwrap();
            let (from, at) = (path("a"), path(to));
            let refused = fixture.files.rename(&from, &at, Replace::Never).await;
            assert!(matches!(
                refused,
                Err(FileSystemError::AlreadyExists { .. })
            ));
            let replace = if by_version {
                Replace::Matches(ContentVersion::of(b"x"))
            } else {
                Replace::File
            };
            fixture.files.rename(&from, &at, replace).await.unwrap();
            assert!(!fixture.root.join("a").exists(), "{to}");
            assert_eq!(fixture.bytes(to), b"x");
            fixture.assert_no_leftovers();
            std::fs::remove_file(fixture.root.join(to)).unwrap();
        }
    })
    .await;
}

/// A link is no file of a version, whatever it leads to, and moves as a link.
#[tokio::test]
async fn moves_by_version_take_links_for_what_they_are() {
    each_resolution(|fixture| async move {
        fixture.put("file", "x");
        fixture.link("file", "link");
        let seen = Replace::Matches(ContentVersion::of(b"x"));
        fixture.put("from", "y");
        let (from, link) = (path("from"), path("link"));
        let refused = fixture.files.rename(&from, &link, seen).await;
        assert!(matches!(refused, Err(FileSystemError::NotAFile { .. })));
        fixture
            .files
            .rename(&path("link"), &path("file"), seen)
            .await
            .unwrap();
        assert!(fixture.root.join("file").is_symlink());
        fixture.assert_no_leftovers();
    })
    .await;
}
