//! Files that an application puts into a session.

use std::sync::Arc;

use everruns_core::file_system::{
    ContentVersion, FileKind, FileSystemError, LastLink, PageRequest, Precondition, Removal,
    Replace, SessionFileSystem, SessionFileSystemExt as _,
};
use everruns_fs::{SeedError, SeededFile, SeededFileSystem, WorkspacePolicy};
use proptest::prelude::*;

use crate::support::{disk, glob, grep, memory, names, path, search, text, under};

fn seed(at: &str, content: &str) -> SeededFile {
    SeededFile::new(path(at), content.to_owned())
}

fn fixed(at: &str, content: &str) -> SeededFile {
    SeededFile::read_only(path(at), content.to_owned())
}

fn over(inner: Arc<dyn SessionFileSystem>, seeds: Vec<SeededFile>) -> SeededFileSystem {
    SeededFileSystem::new(inner, seeds).unwrap()
}

#[tokio::test]
async fn c21_seeds_are_planted_once() {
    let inner = memory(&[("there", "mine")]).await;
    let fs = over(
        inner.clone(),
        vec![seed("a/new", "seed"), seed("there", "seed")],
    );
    assert_eq!(fs.plant().await.unwrap(), [path("a/new")]);
    assert_eq!(text(&fs, "a/new").await.unwrap(), "seed");
    assert_eq!(text(&fs, "there").await.unwrap(), "mine");
    fs.write_all("a/new", "changed").await.unwrap();
    assert!(fs.plant().await.unwrap().is_empty());
    assert_eq!(text(&fs, "a/new").await.unwrap(), "changed");
}

#[tokio::test]
async fn seeds_can_be_planted_below_a_policy() {
    let inner = memory(&[]).await;
    let policy = under(inner.clone(), WorkspacePolicy::read_only());
    let fs = over(Arc::new(policy), vec![seed("a", "seed")]);
    assert!(matches!(
        fs.plant().await,
        Err(FileSystemError::Denied { .. })
    ));
    fs.plant_into(inner.as_ref()).await.unwrap();
    assert_eq!(text(&fs, "a").await.unwrap(), "seed");
}

/// Proves C21: no route changes a read-only seed.
#[tokio::test]
async fn c21_read_only_seeds_refuse_every_route() {
    let (inner, folder) = disk();
    let fs = over(inner.clone(), vec![fixed("dir/rules.md", "rules")]);
    fs.plant().await.unwrap();
    inner.write_all("dir/other", "x").await.unwrap();
    std::os::unix::fs::symlink("dir", folder.path().join("tree/way")).unwrap();
    std::os::unix::fs::symlink("dir/rules.md", folder.path().join("tree/link")).unwrap();
    let any = Precondition::Any;
    let refused = |what: &str, result: Result<(), FileSystemError>| {
        assert!(
            matches!(result, Err(FileSystemError::ReadOnly { .. })),
            "{what}: {result:?}"
        );
    };
    for at in ["dir/rules.md", "way/rules.md", "link"] {
        refused(at, fs.write(&path(at), "x".into(), any).await.map(drop));
    }
    for at in ["dir/rules.md", "way/rules.md"] {
        refused(at, fs.remove(&path(at), Removal::Entry, any).await);
        refused(at, fs.rename(&path(at), &path("x"), Replace::Never).await);
        refused(
            at,
            fs.rename(&path("dir/other"), &path(at), Replace::File)
                .await,
        );
    }
    refused(
        "above",
        fs.remove(&path("dir"), Removal::Recursive, any).await,
    );
    refused(
        "above",
        fs.rename(&path("dir"), &path("x"), Replace::Never).await,
    );
    // The other route to the same file: whoever changes it below changes nothing here.
    inner.write_all("dir/rules.md", "forged").await.unwrap();
    for at in ["dir/rules.md", "way/rules.md", "link"] {
        assert_eq!(text(&fs, at).await.unwrap(), "rules", "{at}");
    }
    inner
        .remove(&path("dir"), Removal::Recursive, any)
        .await
        .unwrap();
    assert_eq!(text(&fs, "dir/rules.md").await.unwrap(), "rules");
    assert_eq!(
        fs.version(&path("dir/rules.md")).await.unwrap(),
        Some(ContentVersion::of(b"rules"))
    );
}

#[tokio::test]
async fn c21_read_only_seeds_are_seen_like_files() {
    let inner = memory(&[("a/x", "word"), ("z", "word")]).await;
    let fs = over(
        inner,
        vec![fixed("a/seed", "word"), fixed("only/here/seed", "word")],
    );
    assert_eq!(names(&fs, ".").await, ["a", "only", "z"]);
    assert_eq!(names(&fs, "a").await, ["seed", "x"]);
    assert_eq!(names(&fs, "only").await, ["here"]);
    assert_eq!(
        fs.stat(&path("only/here")).await.unwrap().kind,
        FileKind::Directory
    );
    assert_eq!(fs.stat(&path("a/seed")).await.unwrap().size, 4);
    let all = [
        "/workspace/a/seed",
        "/workspace/a/x",
        "/workspace/only/here/seed",
        "/workspace/z",
    ];
    assert_eq!(search(&fs, grep(".", "word")).await.0, all);
    assert_eq!(search(&fs, glob(".", "*")).await.0, all);
    assert_eq!(search(&fs, glob("only", "*")).await.0, all[2..3]);
    let below = fs.write_all("a/seed/x", "x").await;
    assert!(matches!(below, Err(FileSystemError::NotADirectory { .. })));
    let resolved = fs.resolve(&path("a/seed"), LastLink::Follow).await.unwrap();
    assert_eq!(
        (resolved, fs.host_path(&path("a/seed"))),
        (path("a/seed"), None)
    );
    let after = PageRequest {
        after: Some("a".to_owned()),
        limit: 1,
    };
    let page = fs.list(&path("."), after).await.unwrap();
    assert_eq!(
        (page.entries[0].name.as_str(), page.next.as_deref()),
        ("only", Some("only"))
    );
}

#[test]
fn seeds_that_cannot_be_files_of_one_tree_are_refused() {
    let inner: Arc<dyn SessionFileSystem> = Arc::new(everruns_fs::MemoryFileSystem::new());
    let refused = |seeds| SeededFileSystem::new(Arc::clone(&inner), seeds).unwrap_err();
    let twice = refused(vec![seed("a", "1"), fixed("./a", "2")]);
    assert_eq!(twice, SeedError::Duplicate { path: path("a") });
    let below = refused(vec![seed("a/b", "1"), seed("a-x", "1"), seed("a", "2")]);
    assert_eq!(below, SeedError::NotAFile { path: path("a/b") });
    assert_eq!(
        refused(vec![seed(".", "1")]),
        SeedError::NotAFile { path: path(".") }
    );
    let git = refused(vec![seed(".GIT/config", "1")]);
    assert_eq!(
        git,
        SeedError::GitInternal {
            path: path(".GIT/config")
        }
    );
}

fn any_tree() -> impl Strategy<Value = Vec<String>> {
    let part = prop::sample::select(vec!["a", "b", "a.txt", "a-b", "c"]);
    let name = prop::collection::vec(part, 1..3).prop_map(|parts| parts.join("/") + "/file");
    prop::collection::btree_set(name, 1..12).prop_map(|names| names.into_iter().collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Proves C21: pages and searches over files and seeds together are those over files alone, at any limit.
    #[test]
    fn c21_seeds_among_files_page_and_search_like_files(
        tree in any_tree(),
        is_seed in prop::collection::vec(any::<bool>(), 12),
        limit in 1_usize..4,
        by_lines in any::<bool>(),
    ) {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(async {
            let all: Vec<(&str, &str)> = tree.iter().map(|name| (name.as_str(), "word\nword\n")).collect();
            let plain = memory(&all).await;
            let parts = || all.iter().zip(&is_seed);
            let files: Vec<_> = parts().filter(|(_, seed)| !**seed).map(|(file, _)| *file).collect();
            let seeds = parts().filter(|(_, seed)| **seed).map(|((at, text), _)| fixed(at, text)).collect();
            let mixed = over(memory(&files).await, seeds);
            let query = || if by_lines { grep(".", "word") } else { glob(".", "file") };
            let mut found = Vec::new();
            let mut next = query();
            next.limits.matches = limit;
            loop {
                let (some, summary) = search(&mixed, next.clone()).await;
                found.extend(some);
                match (summary.truncation, summary.resume_after) {
                    (None, _) => break,
                    (Some(_), after) => (next.after, next.after_line) = (after, summary.resume_line),
                }
            }
            let (expected, _) = search(plain.as_ref(), query()).await;
            assert_eq!(found, expected);
            let mut listed = Vec::new();
            let mut request = PageRequest { after: None, limit };
            loop {
                let page = mixed.list(&path("."), request.clone()).await.unwrap();
                listed.extend(page.entries.into_iter().map(|entry| entry.name));
                match page.next {
                    None => break,
                    next => request.after = next,
                }
            }
            assert_eq!(listed, names(plain.as_ref(), ".").await);
        });
    }
}
