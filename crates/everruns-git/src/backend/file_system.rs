//! The file system of a head: the contained disk file system over its folder.

use std::sync::Arc;

use everruns_core::file_system::SessionFileSystem;
use everruns_fs::disk::{DiskFileSystem, DiskOptions};

use crate::error::Result;
use crate::head::Handle;

/// Opens the files of the head of `handle`.
pub(super) fn open(handle: &Handle) -> Result<Arc<dyn SessionFileSystem>> {
    let folder = handle.worktree().folder;
    let locks = handle.layout().write_locks(&handle.record.id);
    let files = DiskFileSystem::open(&folder, DiskOptions::new(locks))?;
    Ok(Arc::new(files))
}
