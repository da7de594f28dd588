//! Links under a policy: making one gives nobody access to its target.

use std::os::unix::fs::symlink;

use everruns_core::file_system::{
    FileAccess, FileSystemError, LinkTarget, Replace, SessionFileSystem, SessionFileSystemExt as _,
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
    let fs = under(std::sync::Arc::new(mounts), policy);
    link(&fs, "d/link", "secret/a", Replace::Never)
        .await
        .unwrap();
    assert_eq!(text(&fs, "d/link").await.unwrap(), "open");
    for to in ["link", "/roots/docs/link"] {
        link(&fs, "d/moving", "secret/a", Replace::Never)
            .await
            .unwrap();
        let (from, to_path) = (path("d/moving"), path(to));
        fs.rename(&from, &to_path, Replace::Never).await.unwrap();
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
