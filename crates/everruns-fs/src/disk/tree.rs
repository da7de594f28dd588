use std::path::Path;

use everruns_core::file_system::{FileSystemError, LastLink};
use everruns_core::path::{Mount, WorkspacePath};
use rustix::fd::{AsFd as _, OwnedFd};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::cached::Cached;
use super::call::Call;
use super::errors::at;
use super::folding::{Folding, stored_names};
use super::lock::{Lock, Locks};
use super::names::is_temporary;
use super::options::{DiskOptions, Resolution};
use super::resolve::{Missing, Place, Resolver, kernel_resolves};
use super::root::Root;

/// How often a call begins anew when its path changes under it.
const MAX_ATTEMPTS: usize = 64;

/// One tree on disk; its methods block.
#[derive(Debug)]
pub(super) struct Tree {
    pub(super) root: Root,
    pub(super) locks: Locks,
    pub(super) max_file_bytes: u64,
    pub(super) cached: Cached,
    pub(super) resolver: Resolver,
    folding: Folding,
}

impl Tree {
    pub(super) fn open(root: &Path, options: DiskOptions) -> Result<Self, FileSystemError> {
        let DiskOptions {
            lock_dir,
            max_file_bytes,
            resolution,
        } = options;
        let root = Root::open(root)?;
        let by_kernel = match resolution {
            Resolution::Walk => false,
            Resolution::Auto => kernel_resolves(root.as_fd()),
            Resolution::Kernel if kernel_resolves(root.as_fd()) => true,
            Resolution::Kernel => {
                return Err(FileSystemError::InvalidOperation {
                    path: WorkspacePath::root(),
                    reason: "this kernel has no openat2: choose the walk to resolve paths",
                });
            }
        };
        if std::path::absolute(&lock_dir).is_ok_and(|folder| folder.starts_with(root.path())) {
            return Err(FileSystemError::InvalidOperation {
                path: WorkspacePath::root(),
                reason: "the folder for lock files lies in the tree itself",
            });
        }
        let locks = Locks::open(&lock_dir, root.identity())?;
        let tree = Self {
            root,
            locks,
            max_file_bytes,
            cached: Cached::worth_trying(by_kernel),
            resolver: Resolver { by_kernel },
            folding: Folding::default(),
        };
        tree.reclaim_all();
        Ok(tree)
    }

    /// Whether the kernel resolves paths.
    pub(super) fn by_kernel(&self) -> bool {
        self.resolver.by_kernel
    }

    /// Whether another spelling of a name may lead to the same entry.
    pub(super) fn folds(&self) -> bool {
        self.folding.is_possible(self.root.as_fd())
    }

    /// What every call begins with: the path is ours, no part of `.git`, and the top folder is the one opened.
    pub(super) fn enter(&self, path: &WorkspacePath) -> Result<(), FileSystemError> {
        must_be_ours(path)?;
        self.root.verify()
    }

    /// [`enter`](Self::enter) for reading a file and looking at an entry, which change nothing and are asked for most:
    /// that the top folder was the one opened a moment ago will do.
    pub(super) fn enter_to_look(&self, path: &WorkspacePath) -> Result<(), FileSystemError> {
        must_be_ours(path)?;
        self.root.verify_lately()?;
        must_not_be_temporary(path)
    }

    /// [`enter`](Self::enter) for calls that look at what exists: a temporary file does not.
    pub(super) fn enter_existing(&self, path: &WorkspacePath) -> Result<(), FileSystemError> {
        self.enter(path)?;
        must_not_be_temporary(path)
    }

    /// [`enter`](Self::enter) for calls that may make an entry.
    pub(super) fn enter_new(&self, path: &WorkspacePath) -> Result<(), FileSystemError> {
        self.enter(path)?;
        if is_temporary(path) {
            return Err(FileSystemError::InvalidOperation {
                path: path.clone(),
                reason: "names that start with `.everruns-tmp-` are reserved for temporary files",
            });
        }
        Ok(())
    }

    pub(super) fn place(
        &self,
        path: &WorkspacePath,
        last: LastLink,
        missing: Missing,
    ) -> Result<Place, FileSystemError> {
        let root = self.root.as_fd();
        let mut place = self.resolver.place(root, path, last, missing)?;
        if self.folds() {
            place.stored = Some(stored_names(root, path, &place.resolved)?);
        }
        Ok(place)
    }

    /// Opens what is at `path`, links inside followed.
    pub(super) fn open_at(
        &self,
        path: &WorkspacePath,
        flags: OFlags,
        step: &'static str,
    ) -> Result<OwnedFd, FileSystemError> {
        let by_kernel = self
            .resolver
            .open_without_links(self.root.as_fd(), path, flags);
        if let Some(opened) = by_kernel.map_err(at(path, step))? {
            return Ok(opened);
        }
        let mut attempt = 1;
        loop {
            let place = self.place(path, LastLink::Follow, Missing::Fail)?;
            let name = place.name.as_deref().unwrap_or(b".");
            match rustix::fs::openat(&place.folder, name, flags, Mode::empty()) {
                // It became a link after the walk looked at it.
                Err(Errno::LOOP) if attempt < MAX_ATTEMPTS => attempt += 1,
                opened => return opened.map_err(at(path, step)),
            }
        }
    }

    /// Takes the lock of the resolved path `key` for `call`, and removes what a killed process left behind under it.
    pub(super) fn lock(
        &self,
        path: &WorkspacePath,
        key: &[u8],
        call: &Call,
    ) -> Result<Lock<'_>, FileSystemError> {
        let lock = self
            .locks
            .acquire(key)
            .map_err(at(path, "wait for other writers of"))?;
        call.must_be_awaited(path)?;
        self.reclaim(&lock);
        Ok(lock)
    }

    /// The locks of two resolved paths; the second is `None` when they share one.
    pub(super) fn lock_both(
        &self,
        path: &WorkspacePath,
        keys: [&[u8]; 2],
        call: &Call,
    ) -> Result<(Lock<'_>, Option<Lock<'_>>), FileSystemError> {
        let (first, second) = self
            .locks
            .acquire_both(keys)
            .map_err(at(path, "wait for other writers of"))?;
        call.must_be_awaited(path)?;
        self.reclaim(&first);
        if let Some(second) = &second {
            self.reclaim(second);
        }
        Ok((first, second))
    }
}

fn must_be_ours(path: &WorkspacePath) -> Result<(), FileSystemError> {
    if let Mount::Root(name) = path.mount() {
        return Err(FileSystemError::UnknownRoot {
            name: name.to_string(),
            known: Vec::new(),
        });
    }
    if path.is_git_internal() {
        return Err(FileSystemError::GitInternal { path: path.clone() });
    }
    Ok(())
}

/// A temporary file does not exist for those who look.
fn must_not_be_temporary(path: &WorkspacePath) -> Result<(), FileSystemError> {
    if is_temporary(path) {
        return Err(FileSystemError::NotFound { path: path.clone() });
    }
    Ok(())
}

/// Calls `attempt` until it does not say, by `None`, that the path changed under it.
pub(super) fn again_while_changing<T>(
    path: &WorkspacePath,
    mut attempt: impl FnMut() -> Result<Option<T>, FileSystemError>,
) -> Result<T, FileSystemError> {
    for _ in 0..MAX_ATTEMPTS {
        if let Some(done) = attempt()? {
            return Ok(done);
        }
    }
    Err(at(path, "find a steady way to")(Errno::AGAIN))
}
