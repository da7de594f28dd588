use std::path::Path;

use everruns_core::file_system::{
    FileSystemError, GrepQuery, PageRequest, Precondition, ReadRange, Removal, Replace,
    SearchQuery, SearchTarget, SessionFileSystem as _, SessionFileSystemExt as _,
};
use everruns_core::path::{Mount, RootName};

use crate::support::{Fixture, each_resolution, path, paths, search};

/// Every operation on a path through a link that leaves the tree.
async fn assert_refused(fixture: &Fixture, through: &str) {
    let files = &fixture.files;
    let at = path(through);
    let escapes = |error: FileSystemError| {
        assert!(
            matches!(error, FileSystemError::Escapes { .. }),
            "{through}: {error}"
        );
    };
    escapes(files.read(&at, ReadRange::ALL).await.unwrap_err());
    escapes(files.list(&at, PageRequest::default()).await.unwrap_err());
    for precondition in [Precondition::Any, Precondition::Absent] {
        escapes(
            files
                .write(&at, "x".into(), precondition)
                .await
                .unwrap_err(),
        );
    }
    escapes(files.create_dir(&at).await.unwrap_err());
    let below = at.join("secret").unwrap();
    escapes(files.read(&below, ReadRange::ALL).await.unwrap_err());
    escapes(files.stat(&below).await.unwrap_err());
    escapes(
        files
            .remove(&below, Removal::Recursive, Precondition::Any)
            .await
            .unwrap_err(),
    );
    escapes(
        files
            .rename(&below, &path("stolen"), Replace::File)
            .await
            .unwrap_err(),
    );
    escapes(
        files
            .rename(&path("mine"), &below, Replace::File)
            .await
            .unwrap_err(),
    );
    escapes(
        files
            .write(&below, "x".into(), Precondition::Any)
            .await
            .unwrap_err(),
    );
    let mut query = SearchQuery::new(SearchTarget::Grep(GrepQuery::new("secret")));
    query.folder = at.clone();
    escapes(search(files, query).await.unwrap_err());
    fixture.assert_outside_untouched();
}

/// Proves H02: a sibling whose name begins with the root's is outside.
#[tokio::test]
async fn h02_a_sibling_with_the_same_prefix_is_outside() {
    each_resolution(|fixture| async move {
        fixture.put("mine", "mine");
        fixture.link("../head-evil", "out");
        assert_refused(&fixture, "out").await;
    })
    .await;
}

/// Proves H08: a replaced top folder is noticed, and neither folder changes.
#[tokio::test]
async fn h08_a_replaced_root_is_stale() {
    each_resolution(|fixture| async move {
        fixture.put("a", "old");
        let moved = fixture.temp.path().join("moved");
        std::fs::rename(&fixture.root, &moved).unwrap();
        let files = &fixture.files;
        let stale = |error: FileSystemError| {
            assert!(
                matches!(error, FileSystemError::StaleRoot { .. }),
                "{error}"
            );
        };
        stale(files.write_all("a", "new").await.unwrap_err());
        std::fs::create_dir(&fixture.root).unwrap();
        fixture.put("a", "other");
        stale(files.write_all("a", "new").await.unwrap_err());
        stale(files.read_all("a").await.unwrap_err());
        stale(
            files
                .remove(&path("a"), Removal::Entry, Precondition::Any)
                .await
                .unwrap_err(),
        );
        stale(files.create_dir(&path("b")).await.unwrap_err());
        assert_eq!(fixture.bytes("a"), b"other");
        std::fs::remove_dir_all(&fixture.root).unwrap();
        std::os::unix::fs::symlink("head-evil", &fixture.root).unwrap();
        stale(files.write_all("a", "new").await.unwrap_err());
        assert_eq!(std::fs::read(moved.join("a")).unwrap(), b"old");
        fixture.assert_outside_untouched();
    })
    .await;
}

/// Proves H10: no link out of the tree works, wherever it is and however it is written.
#[tokio::test]
async fn h10_links_that_leave_are_refused() {
    each_resolution(|fixture| async move {
        fixture.put("mine", "mine");
        fixture.link(&fixture.outside, "absolute");
        fixture.link("../head-evil", "relative");
        fixture.link("../../head-evil", "deep/down");
        fixture.link("deep/../../head-evil", "winding");
        fixture.link("relative", "chained");
        fixture.link("deep/down/../head-evil", "through");
        // Absolute targets leave the tree even when they lead back into it.
        fixture.link(&fixture.root, "home");
        for link in [
            "absolute",
            "relative",
            "deep/down",
            "winding",
            "chained",
            "through",
            "home",
        ] {
            assert_refused(&fixture, link).await;
        }
        // The links themselves are entries like others.
        fixture
            .files
            .remove(&path("absolute"), Removal::Recursive, Precondition::Any)
            .await
            .unwrap();
        fixture.assert_outside_untouched();
    })
    .await;
}

/// Proves H10 for a search from the top: it does not follow links at all.
#[tokio::test]
async fn h10_a_search_finds_nothing_outside() {
    each_resolution(|fixture| async move {
        fixture.put("inside/a", "a secret of ours\n");
        fixture.link(&fixture.outside, "out");
        fixture.link("../head-evil/secret", "file");
        fixture.link("inside", "in");
        let grep = SearchQuery::new(SearchTarget::Grep(GrepQuery::new("secret")));
        let (events, _) = search(&fixture.files, grep).await.unwrap();
        assert_eq!(paths(&events), ["inside/a"]);
        let glob = SearchQuery::new(SearchTarget::Glob {
            pattern: "*".to_owned(),
        });
        let (events, _) = search(&fixture.files, glob).await.unwrap();
        assert_eq!(paths(&events), ["inside/a"]);
    })
    .await;
}

/// Proves H14: links of `/proc` lead nowhere.
#[tokio::test]
async fn h14_magic_links_are_refused() {
    each_resolution(|fixture| async move {
        fixture.put("mine", "mine");
        let own = format!("/proc/self/fd/{}", 0);
        for (target, name) in [
            ("/proc/self/root", "root"),
            (own.as_str(), "fd"),
            ("/proc/self/cwd", "cwd"),
        ] {
            fixture.link(target, name);
            assert_refused(&fixture, name).await;
        }
        let up = "../".repeat(fixture.root.components().count());
        fixture.link(Path::new(&up).join("proc/self/root"), "climbing");
        assert_refused(&fixture, "climbing").await;
    })
    .await;
}

#[tokio::test]
async fn additional_roots_are_not_of_this_tree() {
    each_resolution(|fixture| async move {
        fixture.put("a", "a");
        let root = Mount::Root(RootName::new("lib").unwrap());
        let at = path("a").with_mount(root);
        let error = fixture.files.read(&at, ReadRange::ALL).await.unwrap_err();
        assert!(
            matches!(error, FileSystemError::UnknownRoot { .. }),
            "{error}"
        );
        assert_eq!(fixture.files.host_path(&at), None);
        assert_eq!(
            fixture.files.host_path(&path("a")),
            Some(fixture.root.join("a"))
        );
    })
    .await;
}
