use everruns_core::file_system::SessionFileSystem;
use everruns_core::path::{Mount, WorkspacePath};

use super::{RootAccess, WorkspaceRootSet};

/// Read-only roots whose folder lies inside another mounted tree, by the path that the other tree gives them.
#[derive(Clone, Debug, Default)]
pub(super) struct Overlaps {
    protected: Vec<WorkspacePath>,
}

impl Overlaps {
    pub(super) fn find(head: &dyn SessionFileSystem, roots: &WorkspaceRootSet) -> Self {
        let top = WorkspacePath::root();
        let trees = || {
            let roots = roots
                .iter()
                .map(|(name, root)| (Mount::Root(name.clone()), root.files.host_path(&top)));
            std::iter::once((Mount::Head, head.host_path(&top))).chain(roots)
        };
        let read_only: Vec<_> = trees()
            .filter(|(mount, _)| match mount {
                Mount::Head => false,
                Mount::Root(name) => roots.access(name) == Some(RootAccess::ReadOnly),
            })
            .collect();
        let mut protected = Vec::new();
        for (mount, outer) in trees() {
            for (_, inner) in read_only.iter().filter(|(inner, _)| *inner != mount) {
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
                    protected.push(path);
                }
            }
        }
        Self { protected }
    }

    /// Whether a tree has anything to protect; most have nothing, and then nothing is resolved.
    pub(super) fn concern(&self, mount: &Mount) -> bool {
        self.protected.iter().any(|path| path.mount() == mount)
    }

    /// Whether `path` lies in a protected folder, or is one.
    pub(super) fn protect(&self, path: &WorkspacePath) -> bool {
        self.protected.iter().any(|folder| path.starts_with(folder))
    }

    /// Whether a protected folder is `path` or lies below it.
    pub(super) fn protect_below(&self, path: &WorkspacePath) -> bool {
        self.protected.iter().any(|folder| folder.starts_with(path))
    }
}
