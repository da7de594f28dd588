use everruns_core::file_system::{
    FileSystemError, GrepQuery, PageRequest, Precondition, ReadRange, Removal, Replace,
    SearchQuery, SearchTarget, SessionFileSystem as _, SessionFileSystemExt as _,
};

use crate::support::{Fixture, each_resolution, path, paths, search, snapshot};

async fn assert_hidden(fixture: &Fixture, text: &str) {
    let files = &fixture.files;
    let at = path(text);
    let refused = |error: FileSystemError| {
        assert!(
            matches!(error, FileSystemError::GitInternal { .. }),
            "{text}: {error}"
        );
    };
    refused(files.read(&at, ReadRange::ALL).await.unwrap_err());
    refused(files.write_all(text, "x").await.unwrap_err());
    refused(files.list(&at, PageRequest::default()).await.unwrap_err());
    refused(files.create_dir(&at).await.unwrap_err());
    let below = at.join("hooks").unwrap();
    refused(files.stat(&below).await.unwrap_err());
    refused(files.create_dir(&below).await.unwrap_err());
    refused(
        files
            .remove(&below, Removal::Recursive, Precondition::Any)
            .await
            .unwrap_err(),
    );
    refused(
        files
            .rename(&path("mine"), &below, Replace::File)
            .await
            .unwrap_err(),
    );
    refused(
        files
            .rename(&below, &path("stolen"), Replace::Never)
            .await
            .unwrap_err(),
    );
}

/// Proves H24a: `.git` is no part of the tree, by any spelling and through any link.
#[tokio::test]
async fn h24a_the_git_folder_is_no_part_of_the_tree() {
    each_resolution(|fixture| async move {
        fixture.put(".git/config", "[core]\n");
        fixture.put(".git/hooks/pre-commit", "#!/bin/sh\n");
        fixture.put("mine", "mine core\n");
        fixture.put("sub/.git/config", "[core]\n");
        fixture.link(".git", "alias");
        fixture.link(".git/config", "config");
        fixture.link("sub/../.git/config", "winding");
        fixture.link("alias", "chained");
        fixture.link("../sub/.git", "deep/nested");
        let before = snapshot(&fixture.root);
        for text in [
            ".git",
            ".GIT",
            ".git/config",
            "git~1",
            "sub/.git",
            "alias",
            "config",
            "winding",
            "chained",
            "deep/nested",
            "chained/config",
        ] {
            assert_hidden(&fixture, text).await;
        }
        let names: Vec<_> = fixture
            .files
            .list_all(&path("."))
            .await
            .unwrap()
            .into_iter()
            .map(|entry| entry.name)
            .collect();
        assert_eq!(
            names,
            [
                "alias", "chained", "config", "deep", "mine", "sub", "winding"
            ]
        );
        let mut query = SearchQuery::new(SearchTarget::Grep(GrepQuery::new("core")));
        query.hidden = true;
        query.honour_ignores = false;
        let (events, _) = search(&fixture.files, query).await.unwrap();
        assert_eq!(paths(&events), ["mine"]);
        assert_eq!(fixture.files.host_path(&path(".git/config")), None);
        assert_eq!(snapshot(&fixture.root), before);
    })
    .await;
}

/// Proves H24a for removal: a folder with a repository in it is refused before anything is gone.
#[tokio::test]
async fn h24a_a_nested_repository_is_not_removed_with_its_folder() {
    each_resolution(|fixture| async move {
        fixture.put("a/b/.git/HEAD", "ref: refs/heads/main\n");
        fixture.put("a/file", "x");
        let before = snapshot(&fixture.root);
        let error = fixture
            .files
            .remove(&path("a"), Removal::Recursive, Precondition::Any)
            .await
            .unwrap_err();
        assert!(
            matches!(error, FileSystemError::GitInternal { .. }),
            "{error}"
        );
        let error = fixture
            .files
            .remove(&path("a/b"), Removal::Entry, Precondition::Any)
            .await
            .unwrap_err();
        assert!(
            matches!(error, FileSystemError::DirectoryNotEmpty { .. }),
            "{error}"
        );
        assert_eq!(snapshot(&fixture.root), before);
    })
    .await;
}
