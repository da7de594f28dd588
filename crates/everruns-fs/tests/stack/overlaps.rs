//! Mounts of which one lies in another: what binds a file by one name binds it by the other.

use std::sync::Arc;

use everruns_core::file_system::{
    FileAccess, FileMode, FileSystemError, LinkTarget, Precondition, Removal, Replace,
    SessionFileSystem as _, SessionFileSystemExt as _,
};
use everruns_fs::disk::{DiskFileSystem, DiskOptions};
use everruns_fs::{
    MountedFileSystem, PolicyFileSystem, RootAccess, SeededFile, SeededFileSystem, WorkspacePolicy,
    WorkspaceRootSet,
};

use crate::support::{disk, grep, memory, mounted, names, path, root, search, text};

/// Proves H06: a read-only root inside the head's own folder is read-only by either name.
#[tokio::test]
async fn h06_the_more_specific_mount_decides() {
    let (head, folder) = disk();
    head.write_all("vendor/lib/a", "1").await.unwrap();
    head.write_all("other/a", "1").await.unwrap();
    let tree = folder.path().join("tree");
    std::os::unix::fs::symlink("vendor", tree.join("alias")).unwrap();
    let options = DiskOptions::new(folder.path().join("locks2"));
    let vendor = DiskFileSystem::open(tree.join("vendor"), options).unwrap();
    let fs = mounted(
        head.clone(),
        "vendor",
        Arc::new(vendor),
        RootAccess::ReadOnly,
    );
    for text in ["vendor/lib/a", "alias/lib/a", "vendor/new"] {
        let refused = fs.write_all(text, "2").await;
        assert!(
            matches!(refused, Err(FileSystemError::ReadOnly { .. })),
            "{text}"
        );
    }
    let recursive = fs
        .remove(&path("vendor"), Removal::Recursive, Precondition::Any)
        .await;
    assert!(matches!(recursive, Err(FileSystemError::ReadOnly { .. })));
    let moved = fs
        .rename(&path("vendor"), &path("mine"), Replace::Never)
        .await;
    assert!(matches!(moved, Err(FileSystemError::ReadOnly { .. })));
    assert_eq!(text(&fs, "/roots/vendor/lib/a").await.unwrap(), "1");
    assert_eq!(text(&fs, "vendor/lib/a").await.unwrap(), "1");
    fs.write_all("other/a", "2").await.unwrap();
}

/// Proves H06: where two mounts overlap, what the policy denies by either name is denied by both, by whatever operation.
#[tokio::test]
async fn h06_a_deny_by_either_name_wins() {
    let (head, folder) = disk();
    for name in ["secret/x", "open/x", "other/x"] {
        head.write_all(&format!("vendor/{name}"), "needle")
            .await
            .unwrap();
    }
    let tree = folder.path().join("tree");
    let options = DiskOptions::new(folder.path().join("locks2"));
    let vendor = DiskFileSystem::open(tree.join("vendor"), options).unwrap();
    let mounts = mounted(head, "vendor", Arc::new(vendor), RootAccess::ReadWrite);
    let policy = WorkspacePolicy::builder()
        .allow_write("**")
        .deny_read("/roots/vendor/secret")
        .deny_write("vendor/open")
        .build()
        .unwrap();
    let fs = PolicyFileSystem::over_mounts(Arc::new(mounts), &policy);
    for top in ["vendor", "/roots/vendor"] {
        let at = |name: &str| format!("{top}/{name}");
        for denied in [
            text(&fs, &at("secret/x")).await.map(drop),
            fs.write_all(&at("secret/y"), "y").await.map(drop),
            fs.write_all(&at("open/y"), "y").await.map(drop),
            fs.stat(&path(&at("secret/x"))).await.map(drop),
            fs.remove(&path(&at("open/x")), Removal::Entry, Precondition::Any)
                .await,
            fs.rename(&path(top), &path("elsewhere"), Replace::Never)
                .await,
        ] {
            assert!(
                matches!(denied, Err(FileSystemError::Denied { .. })),
                "{top}: {denied:?}"
            );
        }
        assert_eq!(names(&fs, top).await, ["open", "other"]);
        let (found, _) = search(&fs, grep(top, "needle")).await;
        let full = path(top);
        assert_eq!(found, [format!("{full}/open/x"), format!("{full}/other/x")]);
        fs.write_all(&at("other/x"), "needle").await.unwrap();
    }
}

/// A head with two files in its folder `inside`, which is the root `vendor`, too.
fn protected_vendor(
    policy: &WorkspacePolicy,
    inside: &str,
) -> (PolicyFileSystem, tempfile::TempDir) {
    let (head, folder) = disk();
    let top = folder.path().join("tree").join(inside);
    for name in ["x", "sub/x"] {
        let at = top.join(name);
        std::fs::create_dir_all(at.parent().unwrap()).unwrap();
        std::fs::write(at, "needle").unwrap();
    }
    let options = DiskOptions::new(folder.path().join("locks2"));
    let vendor = DiskFileSystem::open(top, options).unwrap();
    let mounts = mounted(head, "vendor", Arc::new(vendor), RootAccess::ReadWrite);
    let fs = PolicyFileSystem::over_mounts(Arc::new(mounts), policy);
    (fs, folder)
}

/// Proves H06: a protection that holds of a root's folder by its name in the head holds of the root, for every kind of
/// protection, and `explain` says which.
#[tokio::test]
async fn h06_protections_hold_by_either_name() {
    let builder = || WorkspacePolicy::builder().allow_write("**");
    for (inside, builder, may_read, rule) in [
        (
            ".hidden/v",
            builder().allow_hidden(false),
            false,
            "allow_hidden",
        ),
        (".ssh", builder(), false, "a folder of keys"),
        ("a/.env", builder(), false, "a credentials file"),
        (
            "target/gen",
            builder().protect_build_folders(true),
            true,
            "protect_build_folders",
        ),
        (
            "vendor",
            builder().deny_read("vendor/**"),
            false,
            "deny_read `vendor/**`",
        ),
        (
            "vendor",
            builder().deny_write("vendor/**"),
            true,
            "deny_write `vendor/**`",
        ),
        (".git/v", builder(), false, "Git's own folder"),
    ] {
        let policy = builder.build().unwrap();
        let (fs, _folder) = protected_vendor(&policy, inside);
        let (file, top) = (path("/roots/vendor/x"), path("/roots/vendor"));
        let read = text(&fs, "/roots/vendor/x").await;
        assert_eq!(read.is_ok(), may_read, "{inside}: {read:?}");
        let written = fs.write_all("/roots/vendor/x", "y").await;
        let is_refused = |error: &FileSystemError| {
            matches!(
                error,
                FileSystemError::Denied { .. } | FileSystemError::GitInternal { .. }
            )
        };
        assert!(is_refused(&written.unwrap_err()), "{inside}");
        let link = LinkTarget::new("x").unwrap();
        let linked = fs.create_link(&file, &link, Replace::File).await;
        assert!(is_refused(&linked.unwrap_err()), "{inside}");
        let any = Precondition::Any;
        let executable = fs
            .write_with_mode(&file, "y".into(), FileMode::Executable, any)
            .await;
        assert!(is_refused(&executable.unwrap_err()), "{inside}");
        let (found, _) = match fs.search(grep("/roots/vendor", "needle")).await {
            Ok(_) => search(&fs, grep("/roots/vendor", "needle")).await,
            Err(error) => {
                assert!(is_refused(&error), "{inside}");
                (
                    Vec::new(),
                    everruns_core::file_system::SearchSummary::default(),
                )
            }
        };
        assert_eq!(found.is_empty(), !may_read, "{inside}: {found:?}");
        let listed = fs.list_all(&top).await.unwrap_or_default();
        assert_eq!(listed.is_empty(), !may_read, "{inside}: {listed:?}");
        let access = if may_read {
            FileAccess::Write
        } else {
            FileAccess::Read
        };
        let told = fs.explain(&file, access).await.unwrap();
        let other = format!("as it is also {}", path(&format!("{inside}/x")));
        assert!(!told.allowed);
        assert!(told.rule.contains(rule), "{inside}: {}", told.rule);
        assert!(told.rule.contains(&other), "{inside}: {}", told.rule);
    }
}

/// Proves C20 and H06: `explain` tells what decides for paths under roots, through links and where mounts overlap.
#[tokio::test]
async fn c20_h06_explain_tells_which_rule_decides_below_roots() {
    let (head, folder) = disk();
    head.write_all("vendor/secret/x", "1").await.unwrap();
    head.write_all("open", "1").await.unwrap();
    let tree = folder.path().join("tree");
    std::os::unix::fs::symlink("vendor/secret", tree.join("alias")).unwrap();
    std::os::unix::fs::symlink("vendor", tree.join("plain-alias")).unwrap();
    let options = DiskOptions::new(folder.path().join("locks2"));
    let vendor = DiskFileSystem::open(tree.join("vendor"), options).unwrap();
    let roots = WorkspaceRootSet::new()
        .with_root(root("vendor"), Arc::new(vendor), RootAccess::ReadOnly)
        .unwrap()
        .with_root(root("docs"), memory(&[]).await, RootAccess::ReadOnly)
        .unwrap();
    let policy = WorkspacePolicy::builder()
        .allow_read("/roots/docs/*.md")
        .allow_read("/roots/vendor")
        .allow_write("**")
        .deny_read("/roots/vendor/secret")
        .build()
        .unwrap();
    let mounts = Arc::new(MountedFileSystem::new(head, roots));
    let fs = PolicyFileSystem::over_mounts(mounts, &policy);
    let (read, write) = (FileAccess::Read, FileAccess::Write);
    let vendor = path("/roots/vendor");
    let docs = path("/roots/docs");
    for (at, access, allowed, rule) in [
        (
            "/roots/docs/a.md",
            read,
            true,
            "allowed to read by `/roots/docs/*.md`".to_owned(),
        ),
        (
            "/roots/docs/a.md",
            write,
            false,
            format!("the root {docs} can only be read"),
        ),
        (
            "/roots/vendor/a",
            read,
            true,
            "allowed to read by `/roots/vendor`".to_owned(),
        ),
        (
            "/roots/vendor/a",
            write,
            false,
            format!("the root {vendor} can only be read"),
        ),
        ("vendor/a", read, true, "allowed to read by `**`".to_owned()),
        (
            "vendor/a",
            write,
            false,
            format!("the root {vendor} can only be read"),
        ),
        (
            "plain-alias/a",
            write,
            false,
            format!("the root {vendor} can only be read"),
        ),
        (
            "/roots/vendor/secret/x",
            read,
            false,
            "deny_read `/roots/vendor/secret`".to_owned(),
        ),
        (
            "vendor/secret/x",
            read,
            false,
            format!(
                "deny_read `/roots/vendor/secret`, as it is also {}",
                path("/roots/vendor/secret/x")
            ),
        ),
        (
            "alias/x",
            write,
            false,
            format!(
                "deny_read `/roots/vendor/secret`, as it is also {}: {} leads to {}",
                path("/roots/vendor/secret/x"),
                path("alias/x"),
                path("vendor/secret/x"),
            ),
        ),
        (
            "/roots/vendor/.env",
            read,
            false,
            "a credentials file is protected (allow_sensitive)".to_owned(),
        ),
        ("open", write, true, "allowed to write by `**`".to_owned()),
    ] {
        let told = fs.explain(&path(at), access).await.unwrap();
        assert_eq!((told.allowed, told.rule), (allowed, rule), "{access} {at}");
        // What is told is what happens.
        if access == write {
            let written = fs.write_all(at, "2").await;
            assert_eq!(written.is_ok(), allowed, "{at}: {written:?}");
        }
    }
    let unknown = fs.explain(&path("/roots/dcos/a"), read).await;
    assert!(
        matches!(unknown, Err(FileSystemError::UnknownRoot { .. })),
        "{unknown:?}"
    );
}

/// A read-only seed refuses every change by the name that its file has in an overlapping root, too.
#[tokio::test]
async fn h06_a_read_only_seed_is_one_by_either_name() {
    let (head, folder) = disk();
    let vendor = folder.path().join("tree/vendor");
    std::fs::create_dir(&vendor).unwrap();
    let options = DiskOptions::new(folder.path().join("locks2"));
    let files = DiskFileSystem::open(&vendor, options).unwrap();
    let mounts = Arc::new(mounted(
        head,
        "vendor",
        Arc::new(files),
        RootAccess::ReadWrite,
    ));
    let policy = WorkspacePolicy::builder()
        .allow_write("**")
        .allow_recursive_delete(true)
        .build()
        .unwrap();
    let policed = PolicyFileSystem::over_mounts(Arc::clone(&mounts), &policy);
    let seed = SeededFile::read_only(path("vendor/rules/AGENTS.md"), "rules");
    let fs = SeededFileSystem::new(Arc::new(policed), vec![seed])
        .unwrap()
        .over_mounts(&mounts);
    fs.plant().await.unwrap();
    for top in ["vendor", "/roots/vendor"] {
        let (file, rules) = (format!("{top}/rules/AGENTS.md"), format!("{top}/rules"));
        let any = Precondition::Any;
        let link = LinkTarget::new("elsewhere").unwrap();
        for refused in [
            fs.write_all(&file, "forged").await.map(drop),
            fs.write_with_mode(&path(&file), "x".into(), FileMode::Executable, any)
                .await
                .map(drop),
            fs.create_link(&path(&file), &link, Replace::File).await,
            fs.remove(&path(&file), Removal::Entry, any).await,
            fs.remove(&path(&rules), Removal::Recursive, any).await,
            fs.rename(&path(&file), &path("mine"), Replace::Never).await,
            fs.rename(&path(&rules), &path("mine"), Replace::Never)
                .await,
            fs.rename(&path(top), &path("mine"), Replace::Never).await,
        ] {
            assert!(
                matches!(
                    refused,
                    Err(FileSystemError::ReadOnly { .. } | FileSystemError::InvalidOperation { .. })
                ),
                "{file}: {refused:?}"
            );
        }
        assert_eq!(text(&fs, &file).await.unwrap(), "rules");
        let beside = format!("{top}/rules/other");
        fs.write_all(&beside, "x").await.unwrap();
    }
    let kept = std::fs::read(vendor.join("rules/AGENTS.md")).unwrap();
    assert_eq!(kept, b"rules");
}
