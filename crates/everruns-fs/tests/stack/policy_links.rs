//! Links under a policy: making one gives nobody access to its target.

use std::os::unix::fs::symlink;

use everruns_core::file_system::{
    FileAccess, FileSystemError, LinkTarget, Precondition, Removal, Replace, SessionFileSystem,
    SessionFileSystemExt as _,
};
use everruns_fs::{RootAccess, WorkspacePolicy};

use crate::support::{disk, glob, grep, mounted, names, path, search, text, under};

fn policy() -> WorkspacePolicy {
    WorkspacePolicy::builder()
        .allow_write("**")
        .deny_read("secret")
        .deny_write("frozen")
        .build()
        .unwrap()
}

async fn link(
    fs: &dyn SessionFileSystem,
    at: &str,
    target: &str,
    replace: Replace,
) -> Result<(), FileSystemError> {
    let target = LinkTarget::new(target.as_bytes().to_vec()).unwrap();
    fs.create_link(&path(at), &target, replace).await
}

fn is_denied<T: std::fmt::Debug>(result: &Result<T, FileSystemError>) -> bool {
    matches!(result, Err(FileSystemError::Denied { .. }))
}

/// Proves C20: a link to what may not be read is not made, however its text gets there.
#[tokio::test]
async fn c20_a_link_to_a_denied_path_is_not_made() {
    let (inner, folder) = disk();
    inner.write_all("secret/a", "s").await.unwrap();
    inner.write_all("d/open", "o").await.unwrap();
    let tree = folder.path().join("tree");
    symlink("../secret", tree.join("d/by-others")).unwrap();
    let fs = under(inner.clone(), policy());
    for (at, target) in [
        ("link", "secret/a"),
        ("link", "secret"),
        ("link", "secret/not-there"),
        ("d/link", "../secret/a"),
        ("d/link", "../d/../secret"),
        ("d/link", "by-others/a"),
        ("link", ".env"),
        ("link", "d/server.pem"),
    ] {
        let made = link(&fs, at, target, Replace::Never).await;
        assert!(
            matches!(&made, Err(FileSystemError::Denied { path: named, access: FileAccess::Read, .. }) if *named == path(at)),
            "{at} to {target}: {made:?}"
        );
    }
    for (at, target) in [("link", ".git/config"), ("d/link", "../.GIT")] {
        let made = link(&fs, at, target, Replace::Never).await;
        assert!(matches!(made, Err(FileSystemError::GitInternal { .. })));
    }
    assert!(is_denied(
        &link(&fs, "frozen/link", "../d/open", Replace::Never).await
    ));
    assert!(is_denied(
        &link(&fs, "secret/link", "../d/open", Replace::Never).await
    ));
    assert_eq!(names(inner.as_ref(), ".").await, ["d", "secret"]);
    assert_eq!(names(inner.as_ref(), "d").await, ["by-others", "open"]);
    // Its text would tell the name.
    assert!(is_denied(&fs.read_link(&path("d/by-others")).await));
    link(&fs, "link", "d/open", Replace::Never).await.unwrap();
    assert_eq!(text(&fs, "link").await.unwrap(), "o");
}

/// Proves C20: a link that comes to lead to what is denied, because the one between changes, gives no access to it.
#[tokio::test]
async fn c20_a_link_is_judged_at_what_it_leads_to_when_it_is_used() {
    let (inner, folder) = disk();
    inner.write_all("secret/a", "needle").await.unwrap();
    inner.write_all("frozen/a", "needle").await.unwrap();
    inner.write_all("open/a", "o").await.unwrap();
    let tree = folder.path().join("tree");
    let fs = under(inner.clone(), policy());
    link(&fs, "between", "open", Replace::Never).await.unwrap();
    link(&fs, "link", "between/a", Replace::Never)
        .await
        .unwrap();
    fs.write_all("link", "o2").await.unwrap();
    for (now, may_read) in [("secret", false), ("frozen", true)] {
        std::fs::remove_file(tree.join("between")).unwrap();
        symlink(now, tree.join("between")).unwrap();
        assert!(is_denied(&fs.write_all("link", "x").await), "{now}");
        assert_eq!(is_denied(&text(&fs, "link").await), !may_read, "{now}");
        assert_eq!(is_denied(&fs.read_link(&path("link")).await), !may_read);
        let shown = names(&fs, ".").await;
        assert_eq!(shown.contains(&"link".to_owned()), may_read, "{shown:?}");
        let (found, _) = search(&fs, grep(".", "needle")).await;
        assert_eq!(found, ["/workspace/frozen/a"], "{now}");
    }
    assert_eq!(text(inner.as_ref(), "secret/a").await.unwrap(), "needle");
    assert_eq!(text(inner.as_ref(), "frozen/a").await.unwrap(), "needle");
}

/// Proves C20 and H07: a link that moves, in its tree or to another one, gives no access to what it then leads to.
#[tokio::test]
async fn c20_h07_a_moved_link_widens_nothing() {
    let ((head, _one), (docs, _two)) = (disk(), disk());
    for files in [&head, &docs] {
        files.write_all("secret/a", "s").await.unwrap();
        files.write_all("d/secret/a", "open").await.unwrap();
    }
    let policy = WorkspacePolicy::builder()
        .allow_write("**")
        .deny_read("secret")
        .deny_read("/roots/docs/secret")
        .build()
        .unwrap();
    let mounts = mounted(head.clone(), "docs", docs.clone(), RootAccess::ReadWrite);
    let mounts = std::sync::Arc::new(mounts);
    let fs = under(mounts.clone(), policy);
    link(&fs, "d/link", "secret/a", Replace::Never)
        .await
        .unwrap();
    assert_eq!(text(&fs, "d/link").await.unwrap(), "open");
    for to in ["link", "/roots/docs/link"] {
        link(&fs, "d/moving", "secret/a", Replace::Never)
            .await
            .unwrap();
        let (from, to_path) = (path("d/moving"), path(to));
        let refused = fs.rename(&from, &to_path, Replace::Never).await;
        assert!(is_denied(&refused), "{to}: {refused:?}");
        assert_eq!(text(&fs, "d/moving").await.unwrap(), "open");
        // Somebody whom the policy does not bind moves it.
        let moved = mounts.rename(&from, &to_path, Replace::Never).await;
        moved.unwrap();
        assert!(is_denied(&text(&fs, to).await), "{to}");
        assert!(is_denied(&fs.write_all(to, "x").await), "{to}");
        assert!(is_denied(&fs.read_link(&to_path).await), "{to}");
        let top = to_path.parent().unwrap().to_string();
        assert_eq!(names(&fs, &top).await, ["d"], "{to}");
        let (found, _) = search(&fs, glob(&top, "*")).await;
        assert!(
            found.iter().all(|path| !path.ends_with("/link")),
            "{found:?}"
        );
    }
}

/// Proves C20 and H07: the text of a link that moves, alone or in a folder, is judged as that of one that is made.
#[tokio::test]
async fn c20_h07_the_text_of_a_moved_link_is_judged() {
    let ((head, one), (docs, _two)) = (disk(), disk());
    for files in [&head, &docs] {
        files.write_all("secret/k", "s").await.unwrap();
        files.write_all("open/k", "o").await.unwrap();
    }
    let policy = WorkspacePolicy::builder()
        .allow_write("**")
        .deny_read("/workspace/secret/**")
        .deny_read("/roots/docs/secret/**")
        .build()
        .unwrap();
    let mounts = mounted(head.clone(), "docs", docs.clone(), RootAccess::ReadWrite);
    let fs = under(std::sync::Arc::new(mounts), policy);
    let tree = one.path().join("tree");
    std::fs::create_dir_all(tree.join("a/b/folder")).unwrap();
    symlink("a/b", tree.join("alias")).unwrap();
    for (said, to, is_told) in [
        ("secret/k", "l", true),
        ("secret/k", "/roots/docs/l", true),
        ("secret/k", "/roots/docs/a/l", false),
        ("../secret/k", "c/l", true),
        ("../secret/k", "/roots/docs/c/l", true),
        // Where it really lies decides.
        ("../../secret/k", "alias/l", true),
        ("../secret/k", "alias/l", false),
        ("open/k", "l", false),
        (".git/config", "l", true),
        // It names nothing in the tree; whether it may move is the tree's affair.
        ("/etc/hostname", "l", false),
        ("../../../x", "l", false),
    ] {
        let at = tree.join("a/b/moving");
        drop(std::fs::remove_file(&at));
        symlink(said, &at).unwrap();
        let folder = tree.join("a/b/folder");
        symlink(said, folder.join("l")).unwrap();
        let to = path(to);
        let moved = fs.rename(&path("a/b/moving"), &to, Replace::Never).await;
        let case = format!("{said} to {to}: {moved:?}");
        assert_eq!(is_refused(&moved), is_told, "{case}");
        assert_eq!(at.is_symlink(), is_told, "{case}");
        if is_told {
            // A folder goes where its link lies as deep as before.
            std::fs::remove_file(folder.join("l")).unwrap();
            symlink(format!("../{said}"), folder.join("l")).unwrap();
            let moved = fs.rename(&path("a/b/folder"), &to, Replace::Never).await;
            assert!(is_refused(&moved), "a folder: {said} to {to}: {moved:?}");
            assert!(folder.join("l").is_symlink(), "{said} to {to}");
        } else {
            let any = Precondition::Any;
            fs.remove(&to, Removal::Entry, any).await.unwrap();
        }
        std::fs::remove_file(folder.join("l")).unwrap();
    }
}

fn is_refused<T: std::fmt::Debug>(result: &Result<T, FileSystemError>) -> bool {
    is_denied(result) || matches!(result, Err(FileSystemError::GitInternal { .. }))
}

/// Proves C20: a link to a file is shown, and its text told, only when the file may be read, even where a folder of that
/// name could be listed.
#[tokio::test]
async fn c20_a_link_to_a_file_is_judged_by_what_read_would_say() {
    let (inner, folder) = disk();
    inner.write_all("docs/secret.txt", "s").await.unwrap();
    inner.write_all("docs/open.md", "o").await.unwrap();
    let tree = folder.path().join("tree");
    let policy = WorkspacePolicy::builder()
        .allow_read("docs/**/*.md")
        .allow_write("*.md")
        .build()
        .unwrap();
    let fs = under(inner.clone(), policy);
    for (name, said) in [
        ("l.md", "docs/secret.txt"),
        ("m.md", "l.md"),
        ("n.md", "docs/open.md"),
        ("o.md", "docs"),
        ("p.md", "docs/not-there"),
    ] {
        symlink(said, tree.join(name)).unwrap();
        let may_see = !["l.md", "m.md"].contains(&name);
        let shown = names(&fs, ".").await;
        assert_eq!(shown.contains(&name.to_owned()), may_see, "{shown:?}");
        let told = fs.read_link(&path(name)).await;
        assert_eq!(told.is_ok(), may_see, "{name}: {told:?}");
        if !["o.md", "p.md"].contains(&name) {
            assert_eq!(is_denied(&text(&fs, name).await), !may_see, "{name}");
        }
        let made = link(&fs, "new.md", said, Replace::File).await;
        assert_eq!(made.is_ok(), may_see, "{name}: {made:?}");
        let moved = fs
            .rename(&path(name), &path("moved.md"), Replace::Never)
            .await;
        assert_eq!(moved.is_ok(), may_see, "{name}: {moved:?}");
        if moved.is_ok() {
            std::fs::rename(tree.join("moved.md"), tree.join(name)).unwrap();
        }
    }
}
