use std::cell::Cell;

use everruns_core::entropy::{Entropy as _, SystemEntropy};
use everruns_core::file_system::FileSystemError;
use everruns_core::path::WorkspacePath;
use rustix::fd::OwnedFd;
use rustix::fs::AtFlags;
use rustix::io::Errno;

use super::errors::at;
use super::flags::{CREATE, FILE_MODE};
use super::intent;
use super::lock::Lock;
use super::names::TEMPORARY_PREFIX;
use super::resolve::Place;

/// A temporary name beside a target. What is at it is removed when this is dropped.
#[derive(Debug)]
pub(super) struct Temporary<'a> {
    place: &'a Place,
    name: String,
    lock: &'a Lock<'a>,
    is_kept: Cell<bool>,
}

impl<'a> Temporary<'a> {
    /// Reserves a name beside `place`: it is noted under the lock before anything is put there.
    pub(super) fn reserve(
        place: &'a Place,
        lock: &'a Lock<'a>,
        path: &WorkspacePath,
    ) -> Result<Self, FileSystemError> {
        let mut random = [0; 16];
        SystemEntropy.fill(&mut random);
        let name = format!("{TEMPORARY_PREFIX}{:032x}", u128::from_le_bytes(random));
        intent::note(lock, place, &name, None).map_err(at(path, "note a temporary file for"))?;
        Ok(Self {
            place,
            name,
            lock,
            is_kept: Cell::new(false),
        })
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Leaves what is at the name, which it gives, hidden from the tree but not lost: it is somebody's, and could not be
    /// put back.
    ///
    /// A disk that was off meanwhile may bring back `ours`, the file that was made here. That one is removed.
    pub(super) fn keep(&self, ours: Option<&OwnedFd>) -> &str {
        tracing::error!(
            name = self.name,
            "what could not be put back is left under this name"
        );
        self.is_kept.set(true);
        intent::clear(self.lock);
        if let Some(Ok(ours)) = ours.map(rustix::fs::fstat)
            && let Err(errno) = intent::note(self.lock, self.place, &self.name, Some(ours.st_ino))
        {
            tracing::debug!(%errno, "what is left of a write could not be noted");
        }
        &self.name
    }

    /// Makes the file. `Errno::NOENT` says that the folder was removed meanwhile.
    pub(super) fn create(&self) -> Result<OwnedFd, Errno> {
        rustix::fs::openat(&self.place.folder, self.name.as_str(), CREATE, FILE_MODE)
    }
}

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        if self.is_kept.get() {
            return;
        }
        let removed =
            rustix::fs::unlinkat(&self.place.folder, self.name.as_str(), AtFlags::empty());
        // What could not be removed stays noted for the next writer.
        if matches!(removed, Ok(()) | Err(Errno::NOENT)) {
            intent::clear(self.lock);
        }
    }
}

/// Writes all of `bytes`.
pub(super) fn write_all(file: &OwnedFd, mut bytes: &[u8]) -> Result<(), Errno> {
    while !bytes.is_empty() {
        match rustix::io::write(file, bytes) {
            Ok(0) => return Err(Errno::IO),
            Ok(written) => bytes = bytes.get(written..).unwrap_or_default(),
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
        }
    }
    Ok(())
}
