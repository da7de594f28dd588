//! Random mounts of which one lies in another: whatever binds a file by one name binds it by all.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use everruns_core::file_system::{
    FileAccess, FileKind, FileSystemError, LastLink, LinkTarget, Precondition, ReadRange, Removal,
    Replace, SearchQuery, SessionFileSystem, SessionFileSystemExt as _,
};
use everruns_core::path::{Mount, WorkspacePath};
use everruns_fs::disk::{DiskFileSystem, DiskOptions};
use everruns_fs::{
    MountedFileSystem, PolicyFileSystem, RootAccess, WorkspacePolicy, WorkspaceRootSet,
};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use crate::policy::any_policy;
use crate::support::{glob, grep, path, root, search};

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
