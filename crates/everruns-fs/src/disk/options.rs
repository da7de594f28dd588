use std::path::PathBuf;

/// How paths are resolved. Every way gives the same results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Resolution {
    /// By the kernel where it can, which is found out once; else by the walk.
    #[default]
    Auto,
    /// By the kernel. Opening the tree fails where the kernel has no `openat2`.
    Kernel,
    /// Component by component.
    Walk,
}

/// How a [`DiskFileSystem`](super::DiskFileSystem) works.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DiskOptions {
    /// A folder outside the tree for the lock files of writers. Every process that writes to the tree
    /// through this crate must be given the same one. It is made when missing.
    pub lock_dir: PathBuf,
    /// The largest file that is read or written, in bytes.
    pub max_file_bytes: u64,
    /// How paths are resolved.
    pub resolution: Resolution,
}

impl DiskOptions {
    /// Options with lock files in `lock_dir`, files of at most 64 MiB, and [`Resolution::Auto`].
    pub fn new(lock_dir: impl Into<PathBuf>) -> Self {
        Self {
            lock_dir: lock_dir.into(),
            max_file_bytes: 64 << 20,
            resolution: Resolution::Auto,
        }
    }

    /// With another limit for files, in bytes.
    #[must_use]
    pub fn max_file_bytes(mut self, bytes: u64) -> Self {
        self.max_file_bytes = bytes;
        self
    }

    /// With another way of resolving paths.
    #[must_use]
    pub fn resolution(mut self, resolution: Resolution) -> Self {
        self.resolution = resolution;
        self
    }
}
