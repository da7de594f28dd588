use std::path::PathBuf;

use everruns_core::file_system::SessionFileSystem;
use everruns_core::path::{Mount, WorkspacePath};

use super::{RootAccess, WorkspaceRootSet};

/// Trees whose folder lies inside another mounted tree.
#[derive(Clone, Debug, Default)]
pub(super) struct Overlaps {
    /// The path that the outer tree gives the inner one's top, and that top.
    pub(super) all: Vec<(WorkspacePath, WorkspacePath)>,
    /// Those of read-only roots.
    protected: Vec<(WorkspacePath, WorkspacePath)>,
}

/// Where a tree lies on the host, links resolved, so that two names of one folder are seen to be one.
#[expect(
    clippy::disallowed_methods,
    reason = "only compares where two trees were opened; nothing is opened by this path"
)]
fn host_folder(files: &dyn SessionFileSystem) -> Option<PathBuf> {
    let path = files.host_path(&WorkspacePath::root())?;
    Some(path.canonicalize().unwrap_or(path))
}

impl Overlaps {
    /// Looks where the trees lie. Blocks for a moment when they are on disk.
    pub(super) fn find(head: &dyn SessionFileSystem, roots: &WorkspaceRootSet) -> Self {
        let top = WorkspacePath::root();
        let trees = || {
            let roots = roots
                .iter()
                .map(|(name, root)| (Mount::Root(name.clone()), host_folder(root.files.as_ref())));
            std::iter::once((Mount::Head, host_folder(head))).chain(roots)
        };
        let is_read_only = |mount: &Mount| match mount {
            Mount::Head => false,
            Mount::Root(name) => roots.access(name) == Some(RootAccess::ReadOnly),
        };
        let inner_trees: Vec<_> = trees().collect();
        let mut overlaps = Self::default();
        for (mount, outer) in trees() {
            for (inner_mount, inner) in inner_trees.iter().filter(|(inner, _)| *inner != mount) {
                let (Some(outer), Some(inner)) = (&outer, inner) else {
                    continue;
                };
                let below = inner
                    .strip_prefix(outer)
                    .ok()
                    .and_then(|below| below.to_str());
                if let Some(below) = below
                    && let Ok(path) = top.with_mount(mount.clone()).join(below)
                {
                    let names = (path, top.with_mount(inner_mount.clone()));
                    if is_read_only(inner_mount) {
                        overlaps.protected.push(names.clone());
                    }
                    overlaps.all.push(names);
                }
            }
        }
        overlaps
    }

    /// Whether a tree has anything to protect; most have nothing, and then nothing is resolved.
    pub(super) fn concern(&self, mount: &Mount) -> bool {
        self.protected.iter().any(|(path, _)| path.mount() == mount)
    }

    /// The read-only root in which `path` lies by its other name.
    pub(super) fn protector(&self, path: &WorkspacePath) -> Option<&WorkspacePath> {
        let mut protected = self.protected.iter();
        protected.find_map(|(folder, root)| path.starts_with(folder).then_some(root))
    }

    /// Whether a protected folder is `path` or lies below it.
    pub(super) fn protect_below(&self, path: &WorkspacePath) -> bool {
        let mut protected = self.protected.iter();
        protected.any(|(folder, _)| folder.starts_with(path))
    }
}
