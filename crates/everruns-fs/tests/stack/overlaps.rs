//! Mounts of which one lies in another: what binds a file by one name binds it by the other.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use everruns_core::file_system::{
    FileAccess, FileKind, FileMode, FileSystemError, LastLink, LinkTarget, Precondition, ReadRange,
    Removal, Replace, SearchQuery, SessionFileSystem, SessionFileSystemExt as _,
};
use everruns_core::path::{Mount, WorkspacePath};
use everruns_fs::disk::{DiskFileSystem, DiskOptions};
use everruns_fs::{
    MountedFileSystem, PolicyFileSystem, RootAccess, SeededFile, SeededFileSystem, WorkspacePolicy,
    WorkspaceRootSet,
};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use crate::policy::any_policy;
use crate::support::{disk, glob, grep, memory, mounted, names, path, root, search, text};

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

/// Some folders of one tree, each mounted as a root; some lie in others, and two may be the same. The head is one, too.
#[derive(Clone, Debug)]
struct Layout {
    head: PathBuf,
    roots: Vec<(&'static str, PathBuf, RootAccess)>,
    files: Vec<PathBuf>,
    /// Links in the top folder of a mount, each to one of the files.
    links: Vec<(PathBuf, PathBuf)>,
}

fn any_folder() -> impl Strategy<Value = PathBuf> {
    let part = prop::sample::select(vec!["a", "a", "a", "b", ".x", ".env", ".git", "target"]);
    prop::collection::vec(part, 0..4).prop_map(|parts| parts.iter().collect())
}

/// Roots mostly lie below the head, and files below a root, so that most files have several names.
fn any_layout() -> impl Strategy<Value = Layout> {
    let access = prop_oneof![
        1 => Just(RootAccess::ReadOnly),
        2 => Just(RootAccess::ReadWrite),
    ];
    let head = prop::collection::vec(prop::sample::select(vec!["a", "b"]), 0..2);
    let roots = prop::collection::vec((any_folder(), 0_u8..5, access), 1..3);
    let files = prop::collection::vec((any_folder(), 0_usize..3), 1..8);
    let links = prop::collection::vec((0_usize..3, 0_usize..8), 0..4);
    (head, roots, files, links).prop_map(|(head, roots, files, links)| {
        let head: PathBuf = head.iter().collect();
        let roots: Vec<_> = ["r", "s"]
            .into_iter()
            .zip(roots)
            .map(|(name, (folder, apart, access))| {
                let folder = if apart == 0 {
                    folder
                } else {
                    head.join(folder)
                };
                (name, folder, access)
            })
            .collect();
        let files = files.into_iter().map(|(folder, below)| {
            let top = roots.get(below).map_or(head.as_path(), |(_, top, _)| top);
            top.join(folder).join("file")
        });
        let files: Vec<PathBuf> = files.collect();
        let links = links
            .into_iter()
            .enumerate()
            .map(|(number, (below, to))| {
                let top = roots.get(below).map_or(head.as_path(), |(_, top, _)| top);
                let to = files[to % files.len()].clone();
                (top.join(format!("link{number}")), to)
            })
            .collect();
        Layout {
            head,
            roots,
            files,
            links,
        }
    })
}

/// A policy that allows little, so that more folders may be listed than files read.
fn any_allowing() -> impl Strategy<Value = WorkspacePolicy> {
    let glob = prop::sample::select(vec!["**/b/**", "a/a/**/file", "**/a/file", "/roots/r/*"]);
    prop::collection::vec(glob, 1..3).prop_map(|globs| {
        let mut builder = WorkspacePolicy::builder().allow_write("**/link*");
        for glob in globs {
            builder = builder.allow_write(glob);
        }
        builder.build().unwrap()
    })
}

/// The text of a link at `link` that leads to `file`.
fn leading(link: &Path, file: &Path) -> PathBuf {
    let from: Vec<_> = link.parent().unwrap().components().collect();
    let to: Vec<_> = file.components().collect();
    let same = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    let up = from[same..].iter().map(|_| Path::new(".."));
    up.chain(to[same..].iter().map(AsRef::as_ref)).collect()
}

/// A policy that allows all but what rules deny or protect, and mostly some rule or other does.
fn any_narrowed() -> impl Strategy<Value = WorkspacePolicy> {
    let glob = prop::sample::select(vec![
        "a/a",
        "/roots/r/a",
        "/roots/s/**/b",
        "a/b/**",
        "/roots/r/*/a",
        "**/b/file",
    ]);
    let globs = || prop::collection::vec(glob.clone(), 0..2);
    (globs(), globs(), any::<[bool; 3]>()).prop_map(|(no_reads, no_writes, rules)| {
        let [hidden, sensitive, builds] = rules;
        let mut builder = WorkspacePolicy::builder()
            .allow_write("**")
            .allow_hidden(hidden)
            .allow_sensitive(sensitive)
            .protect_build_folders(builds);
        for glob in no_reads {
            builder = builder.deny_read(glob);
        }
        for glob in no_writes {
            builder = builder.deny_write(glob);
        }
        builder.build().unwrap()
    })
}

impl Layout {
    fn mounts(&self) -> impl Iterator<Item = (Mount, &Path, RootAccess)> {
        let head = (Mount::Head, self.head.as_path(), RootAccess::ReadWrite);
        let roots = self
            .roots
            .iter()
            .map(|(name, folder, access)| (Mount::Root(root(name)), folder.as_path(), *access));
        std::iter::once(head).chain(roots)
    }

    /// The path that a mount gives `file`, if it lies in its folder.
    fn name(mount: &Mount, folder: &Path, file: &Path) -> Option<WorkspacePath> {
        let below = file.strip_prefix(folder).ok()?.to_str()?;
        let top = WorkspacePath::root().with_mount(mount.clone());
        Some(top.join(below).unwrap())
    }

    /// Every name of `file`.
    fn names(&self, file: &Path) -> Vec<WorkspacePath> {
        self.mounts()
            .filter_map(|(mount, folder, _)| Self::name(&mount, folder, file))
            .collect()
    }

    /// Whether the mounts alone let `file` be changed by the name that it has below `folder`.
    fn may_change(&self, (own, access): (&Path, RootAccess), file: &Path) -> bool {
        let is_inner = |folder: &Path| file.starts_with(folder) && folder.starts_with(own);
        access == RootAccess::ReadWrite
            && !self
                .mounts()
                .any(|(_, folder, access)| access == RootAccess::ReadOnly && is_inner(folder))
    }

    fn stack(&self, folder: &Path, policy: &WorkspacePolicy) -> PolicyFileSystem {
        let open = |number: usize, below: &Path| {
            let options = DiskOptions::new(folder.join(format!("locks{number}")));
            let top = folder.join("tree").join(below);
            Arc::new(DiskFileSystem::open(top, options).unwrap())
        };
        let mut roots = WorkspaceRootSet::new();
        for (number, (name, below, access)) in self.roots.iter().enumerate() {
            roots = roots
                .with_root(root(name), open(number + 1, below), *access)
                .unwrap();
        }
        let mounts = MountedFileSystem::new(open(0, &self.head), roots);
        PolicyFileSystem::over_mounts(Arc::new(mounts), policy)
    }
}

/// Whether a rule denies or protects `path`, as the policy by itself says; that nothing allows it is no denial.
fn is_denied(policy: &WorkspacePolicy, path: &WorkspacePath, access: FileAccess) -> bool {
    let decision = policy.explain(path, access);
    !decision.allowed && !decision.rule.starts_with("no allow_")
}

/// Every file below `top` that listings lead to.
async fn listed(fs: &dyn SessionFileSystem, top: WorkspacePath) -> BTreeSet<WorkspacePath> {
    let mut found = BTreeSet::new();
    let mut open = vec![top];
    while let Some(folder) = open.pop() {
        for entry in fs.list_all(&folder).await.unwrap_or_default() {
            let at = folder.join(&entry.name).unwrap();
            if entry.stat.kind == FileKind::Directory {
                open.push(at);
            } else {
                found.insert(at);
            }
        }
    }
    found
}

async fn found(fs: &dyn SessionFileSystem, mut query: SearchQuery) -> BTreeSet<WorkspacePath> {
    query.hidden = true;
    if fs.search(query.clone()).await.is_err() {
        return BTreeSet::new();
    }
    let (found, _) = search(fs, query).await;
    found.iter().map(|found| path(found)).collect()
}

/// What came up while layouts were checked, so that it is known that they ask for something.
#[derive(Debug, Default)]
struct Met {
    readable: usize,
    writable: usize,
    /// By the kind of rule that denies by another name what the name asked for would allow.
    by_other_name: BTreeMap<&'static str, usize>,
    read_only: usize,
    /// Links to files that may be read, and to others.
    links: [usize; 2],
}

/// The rules of which a file's other name may be the reason.
const RULES: [&str; 6] = [
    "allow_hidden",
    "allow_sensitive",
    "protect_build_folders",
    "Git's own folder",
    "deny_read",
    "deny_write",
];

async fn check(layout: &Layout, policy: &WorkspacePolicy, met: &mut Met) {
    let folder = tempfile::tempdir().unwrap();
    let tree = folder.path().join("tree");
    for (_, below, _) in layout.mounts() {
        std::fs::create_dir_all(tree.join(below)).unwrap();
    }
    for file in &layout.files {
        // Some are in each other's way.
        drop(std::fs::create_dir_all(tree.join(file).parent().unwrap()));
        drop(std::fs::write(tree.join(file), "word\n"));
    }
    for (link, file) in &layout.links {
        std::os::unix::fs::symlink(leading(link, file), tree.join(link)).unwrap();
    }
    let fs = layout.stack(folder.path(), policy);
    for (mount, own, access) in layout.mounts() {
        let mut readable = BTreeSet::new();
        for file in &layout.files {
            let Some(name) = Layout::name(&mount, own, file) else {
                continue;
            };
            let names = layout.names(file);
            let denied = |access| names.iter().any(|name| is_denied(policy, name, access));
            let may_read = policy.permits_read(&name) && !denied(FileAccess::Read);
            let may_write = policy.permits_write(&name)
                && !denied(FileAccess::Write)
                && layout.may_change((own, access), file);
            let read = fs.read(&name, ReadRange::ALL).await;
            assert_eq!(read.is_ok(), may_read, "reading {name}: {read:?}");
            let stat = fs.stat(&name).await;
            assert_eq!(stat.is_ok(), may_read, "looking at {name}: {stat:?}");
            let written = fs.write_all(&name.to_string(), "word\n").await;
            assert_eq!(written.is_ok(), may_write, "writing {name}: {written:?}");
            for (access, may) in [(FileAccess::Read, may_read), (FileAccess::Write, may_write)] {
                // Where the tree itself has no such path, it says so.
                if let Ok(told) = fs.explain(&name, access).await {
                    assert_eq!(told.allowed, may, "{access} {name}: {}", told.rule);
                    met.note(&told.rule);
                }
            }
            met.readable += usize::from(may_read);
            met.writable += usize::from(may_write);
            if !may_write {
                let any = Precondition::Any;
                let moved = name.parent().unwrap().join("moved").unwrap();
                let link = LinkTarget::new("elsewhere").unwrap();
                assert!(fs.remove(&name, Removal::Entry, any).await.is_err());
                assert!(fs.rename(&name, &moved, Replace::Never).await.is_err());
                assert!(fs.create_link(&name, &link, Replace::File).await.is_err());
            }
            if may_read {
                let resolved = fs.resolve(&name, LastLink::Follow).await;
                assert_eq!(resolved.unwrap(), name);
                readable.insert(name);
            }
        }
        let mut shown = readable.clone();
        for (link, _) in &layout.links {
            let Some(name) = Layout::name(&mount, own, link) else {
                continue;
            };
            let read = fs.read(&name, ReadRange::ALL).await;
            let is_refused = matches!(
                read,
                Err(FileSystemError::Denied { .. } | FileSystemError::GitInternal { .. })
            );
            if read.is_ok() || is_refused {
                let said = fs.read_link(&name).await;
                assert_eq!(said.is_ok(), !is_refused, "{name}: {read:?}, {said:?}");
                met.links[usize::from(is_refused)] += 1;
            }
            if !is_refused && fs.stat(&name).await.is_ok() {
                shown.insert(name);
            }
        }
        let top = WorkspacePath::root().with_mount(mount);
        assert_eq!(listed(&fs, top.clone()).await, shown);
        let text = top.to_string();
        assert_eq!(found(&fs, grep(&text, "word")).await, readable);
        assert_eq!(found(&fs, glob(&text, "**")).await, readable);
    }
}

impl Met {
    fn note(&mut self, rule: &str) {
        self.read_only += usize::from(rule.ends_with("can only be read"));
        if rule.contains("as it is also") {
            let kind = RULES.into_iter().find(|kind| rule.contains(kind)).unwrap();
            *self.by_other_name.entry(kind).or_default() += 1;
        }
    }
}

/// Proves H06 and C20: however mounts overlap, and whatever the policy, what is denied, protected or read-only by one name
/// of a file is so by the others, listings and searches show what may be read and nothing else, and `explain` says so.
#[test]
fn h06_c20_what_binds_one_name_binds_all() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let mut runner = TestRunner::new(ProptestConfig::with_cases(400));
    let met = RefCell::new(Met::default());
    let policies = prop_oneof![6 => any_narrowed(), 2 => any_policy(), 1 => any_allowing()];
    let checked = runner.run(&(any_layout(), policies), |(layout, policy)| {
        runtime.block_on(check(&layout, &policy, &mut met.borrow_mut()));
        Ok(())
    });
    checked.unwrap();
    let met = met.into_inner();
    assert!(
        met.readable > 100
            && met.writable > 100
            && met.read_only > 20
            && met.links.iter().all(|&often| often > 50),
        "{met:?}"
    );
    for rule in RULES {
        assert!(
            met.by_other_name.get(rule).is_some_and(|&often| often > 5),
            "{rule}: {met:?}"
        );
    }
}
