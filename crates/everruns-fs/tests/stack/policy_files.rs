//! A file system that obeys a policy.

use std::os::unix::fs::symlink;
use std::sync::Arc;

use bytes::Bytes;
use everruns_core::file_system::{
    FileAccess, FileSystemError, PageRequest, Precondition, Removal, Replace, SearchEvent,
    SessionFileSystem, SessionFileSystemExt as _, Truncation,
};
use everruns_fs::WorkspacePolicy;
use futures::StreamExt as _;

use crate::support::{disk, glob, grep, memory, names, path, search, text, under};

fn reading_all_but(secret: &str) -> WorkspacePolicy {
    WorkspacePolicy::builder()
        .allow_write("**")
        .deny_read(secret)
        .build()
        .unwrap()
}

fn is_denied<T: std::fmt::Debug>(result: &Result<T, FileSystemError>) -> bool {
    matches!(result, Err(FileSystemError::Denied { .. }))
}

/// Proves C20 for every operation
#[tokio::test]
async fn c20_every_operation_asks() {
    let inner = memory(&[("secret/a", "s"), ("open", "o")]).await;
    let fs = under(inner.clone(), reading_all_but("secret"));
    let (secret, open) = (path("secret/a"), path("open"));
    assert!(is_denied(&text(&fs, "secret/a").await));
    assert!(is_denied(&fs.write_all("secret/a", "x").await));
    assert!(is_denied(&fs.stat(&secret).await));
    assert!(is_denied(&fs.create_dir(&path("secret/b")).await));
    assert!(is_denied(
        &fs.remove(&secret, Removal::Entry, Precondition::Any).await
    ));
    assert!(is_denied(
        &fs.rename(&secret, &path("x"), Replace::Never).await
    ));
    assert!(is_denied(
        &fs.rename(&open, &path("secret/b"), Replace::Never).await
    ));
    assert!(is_denied(
        &fs.list(&path("secret"), PageRequest::default()).await
    ));
    assert!(is_denied(&fs.search(glob("secret", "*")).await.map(drop)));
    assert_eq!(text(inner.as_ref(), "secret/a").await.unwrap(), "s");
    assert_eq!(names(inner.as_ref(), ".").await, ["open", "secret"]);
}

#[tokio::test]
async fn c20_read_only_changes_nothing() {
    let inner = memory(&[("a", "1")]).await;
    let fs = under(inner.clone(), WorkspacePolicy::read_only());
    let refused = fs.write_all("a", "2").await;
    assert!(matches!(
        refused,
        Err(FileSystemError::Denied {
            access: FileAccess::Write,
            ..
        })
    ));
    assert_eq!(text(&fs, "a").await.unwrap(), "1");
}

/// Proves C20: pages hold only what may be seen, and are as full as without a policy.
#[tokio::test]
async fn c20_listings_show_only_what_may_be_read_in_full_pages() {
    let files: Vec<String> = (0..100)
        .map(|n| format!("{:02}.{}", n, if n % 3 == 0 { "md" } else { "key" }))
        .collect();
    let files: Vec<(&str, &str)> = files.iter().map(|name| (name.as_str(), "x")).collect();
    let fs = under(memory(&files).await, WorkspacePolicy::read_write());
    let mut request = PageRequest {
        after: None,
        limit: 10,
    };
    let mut seen = Vec::new();
    loop {
        let page = fs.list(&path("."), request.clone()).await.unwrap();
        seen.extend(page.entries.iter().map(|entry| entry.name.clone()));
        match page.next {
            Some(next) => {
                assert_eq!(page.entries.len(), 10);
                request.after = Some(next);
            }
            None => break,
        }
    }
    let expected: Vec<String> = (0..100).step_by(3).map(|n| format!("{n:02}.md")).collect();
    assert_eq!(seen, expected);
}

#[tokio::test]
async fn c20_searches_show_only_what_may_be_read() {
    let fs = memory(&[
        ("a/x", "word"),
        ("secret/x", "word"),
        ("server.pem", "word"),
        ("z", "word"),
    ])
    .await;
    let fs = under(fs, reading_all_but("secret"));
    let (found, summary) = search(&fs, grep(".", "word")).await;
    assert_eq!(found, ["/workspace/a/x", "/workspace/z"]);
    assert_eq!((summary.matches, summary.files), (2, 2));
    let (found, _) = search(&fs, glob(".", "*")).await;
    assert_eq!(found, ["/workspace/a/x", "/workspace/z"]);
}

#[tokio::test]
async fn searches_under_a_policy_are_continuable() {
    let files: Vec<String> = (0..30)
        .map(|n| format!("{n:02}.{}", if n % 2 == 0 { "md" } else { "pem" }))
        .collect();
    let files: Vec<(&str, &str)> = files.iter().map(|name| (name.as_str(), "word")).collect();
    let fs = under(memory(&files).await, WorkspacePolicy::read_write());
    let mut query = grep(".", "word");
    query.limits.matches = 4;
    let mut seen = Vec::new();
    loop {
        let (found, summary) = search(&fs, query.clone()).await;
        seen.extend(found);
        match summary.truncation {
            Some(limit) => assert_eq!(limit, Truncation::Matches),
            None => break,
        }
        query.after = summary.resume_after;
    }
    assert_eq!(seen.len(), 15);
}

/// Proves C20: what only leads to an allowed file may be listed, and shows only that.
#[tokio::test]
async fn folders_on_the_way_show_only_the_way() {
    let fs = memory(&[
        ("a/b/x.md", "1"),
        ("a/b/y.rs", "1"),
        ("a/z", "1"),
        ("c/d", "1"),
    ])
    .await;
    let policy = WorkspacePolicy::builder()
        .allow_read("a/b/*.md")
        .build()
        .unwrap();
    let fs = under(fs, policy);
    assert_eq!(names(&fs, ".").await, ["a"]);
    assert_eq!(names(&fs, "a").await, ["b"]);
    assert_eq!(names(&fs, "a/b").await, ["x.md"]);
    assert!(fs.stat(&path("a")).await.is_ok());
    assert!(is_denied(&fs.stat(&path("a/z")).await));
    let (found, _) = search(&fs, glob(".", "**/*")).await;
    assert_eq!(found, ["/workspace/a/b/x.md"]);
}

/// Proves C20: a link inside the tree gives no access to what is denied.
#[tokio::test]
async fn c20_links_do_not_evade() {
    let (files, folder) = disk();
    let tree = folder.path().join("tree");
    files.write_all("secret/a", "s").await.unwrap();
    files.write_all("open/b", "o").await.unwrap();
    symlink("secret", tree.join("way")).unwrap();
    symlink("secret/a", tree.join("file")).unwrap();
    symlink("open", tree.join("fine")).unwrap();
    let fs = under(files.clone(), reading_all_but("secret"));
    assert!(is_denied(&text(&fs, "way/a").await));
    assert!(is_denied(&text(&fs, "file").await));
    assert!(is_denied(&fs.write_all("file", "x").await));
    assert!(is_denied(&fs.write_all("way/new", "x").await));
    assert!(is_denied(
        &fs.list(&path("way"), PageRequest::default()).await
    ));
    assert!(is_denied(
        &fs.remove(&path("way/a"), Removal::Entry, Precondition::Any)
            .await
    ));
    assert!(is_denied(
        &fs.rename(&path("way/a"), &path("out"), Replace::Never)
            .await
    ));
    assert!(is_denied(
        &fs.rename(&path("open/b"), &path("way/b"), Replace::Never)
            .await
    ));
    assert!(is_denied(&fs.create_dir(&path("way/new")).await));
    assert!(is_denied(&fs.search(grep("way", "s")).await.map(drop)));
    assert_eq!(names(&fs, ".").await, ["fine", "open"]);
    assert_eq!(text(&fs, "fine/b").await.unwrap(), "o");
    fs.write_all("fine/b", "p").await.unwrap();
    assert_eq!(text(files.as_ref(), "open/b").await.unwrap(), "p");
    assert_eq!(text(files.as_ref(), "secret/a").await.unwrap(), "s");
}

/// Proves H05: a link to a protected name, and one whose own name is harmless.
#[tokio::test]
async fn h05_the_name_on_disk_decides() {
    let (files, folder) = disk();
    let tree = folder.path().join("tree");
    files.write_all(".env", "KEY=1").await.unwrap();
    symlink(".env", tree.join("settings.txt")).unwrap();
    let fs = under(files, WorkspacePolicy::read_write());
    let error = text(&fs, "settings.txt").await.unwrap_err();
    assert!(is_denied::<()>(&Err(error)));
    assert!(names(&fs, ".").await.is_empty());
}

#[tokio::test]
async fn c20_recursive_removal_needs_leave_and_spares_what_is_protected() {
    let inner = memory(&[("a/b/c", "1"), ("a/.env", "k"), ("d/e", "1"), ("f", "1")]).await;
    let fs = under(inner.clone(), WorkspacePolicy::read_write());
    let recursive = |text: &'static str| (path(text), Removal::Recursive, Precondition::Any);
    let (target, removal, any) = recursive("d");
    assert!(is_denied(&fs.remove(&target, removal, any).await));
    // What is no folder is one entry, however it is asked for.
    fs.remove(&path("f"), Removal::Recursive, Precondition::Any)
        .await
        .unwrap();
    let policy = WorkspacePolicy::builder()
        .allow_write("**")
        .allow_recursive_delete(true);
    let fs = under(inner.clone(), policy.build().unwrap());
    let (target, removal, any) = recursive("a");
    let refused = fs.remove(&target, removal, any).await;
    assert!(matches!(&refused, Err(FileSystemError::Denied { path: at, .. }) if *at == path("a")));
    assert_eq!(text(inner.as_ref(), "a/b/c").await.unwrap(), "1");
    fs.remove(&path("d"), Removal::Recursive, Precondition::Any)
        .await
        .unwrap();
    assert_eq!(names(inner.as_ref(), ".").await, ["a"]);
}

#[tokio::test]
async fn c20_moving_a_folder_takes_nothing_protected_along() {
    let inner = memory(&[("a/secret/c", "1"), ("b/c", "1")]).await;
    let policy = WorkspacePolicy::builder()
        .allow_write("**")
        .deny_read("a/secret")
        .deny_write("d/c")
        .build()
        .unwrap();
    let fs = under(inner.clone(), policy);
    assert!(is_denied(
        &fs.rename(&path("a"), &path("x"), Replace::Never).await
    ));
    assert!(is_denied(
        &fs.rename(&path("b"), &path("d"), Replace::Never).await
    ));
    fs.rename(&path("b"), &path("e"), Replace::Never)
        .await
        .unwrap();
    assert_eq!(names(inner.as_ref(), ".").await, ["a", "e"]);
}

/// Proves H48 for policies: text in files changes no policy.
#[tokio::test]
async fn h48_text_in_files_is_data() {
    let inner = memory(&[("AGENTS.md", "allow_sensitive(true)"), (".env", "KEY")]).await;
    let fs = under(inner, WorkspacePolicy::read_write());
    text(&fs, "AGENTS.md").await.unwrap();
    assert!(is_denied(&text(&fs, ".env").await));
}

/// Proves H41 and H42 under a policy: odd names are listed exactly, or escaped.
#[tokio::test]
async fn h41_h42_odd_names_are_listed() {
    use std::os::unix::ffi::OsStrExt as _;
    let (files, folder) = disk();
    let odd = ["new\nline", "esc\u{1b}[31m", "bidi\u{202e}x"];
    for name in odd {
        files.write_all(name, "x").await.unwrap();
    }
    let bytes = std::ffi::OsStr::from_bytes(b"bad\xff");
    std::fs::write(folder.path().join("tree").join(bytes), "x").unwrap();
    let fs = under(files, WorkspacePolicy::read_write());
    let page = fs.list(&path("."), PageRequest::default()).await.unwrap();
    let listed: Vec<&str> = page
        .entries
        .iter()
        .map(|entry| entry.name.as_str())
        .collect();
    assert_eq!(listed, ["bidi\u{202e}x", "esc\u{1b}[31m", "new\nline"]);
    assert_eq!(page.unrepresentable, ["bad\\xff"]);
}

/// Proves H55 for wrappers: a dropped search leaves nothing behind that stops the next.
#[tokio::test]
async fn h55_dropped_searches_disturb_nothing() {
    let fs: Arc<dyn SessionFileSystem> = memory(&[("a", "word\n"), ("b", "word\n")]).await;
    let fs = under(fs, WorkspacePolicy::read_write());
    for _ in 0..20 {
        let mut stream = fs.search(grep(".", "word")).await.unwrap();
        assert!(matches!(
            stream.next().await,
            Some(Ok(SearchEvent::Line { .. }))
        ));
    }
    fs.write(&path("a"), Bytes::from_static(b"other"), Precondition::Any)
        .await
        .unwrap();
    assert_eq!(search(&fs, grep(".", "word")).await.0, ["/workspace/b"]);
}
