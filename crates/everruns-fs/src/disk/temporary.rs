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
    folder: &'a OwnedFd,
    name: String,
    lock: &'a Lock<'a>,
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
        let parent = place
            .resolved
            .split_last()
            .map_or(&[][..], |(_, parent)| parent);
        intent::note(lock, parent, &name).map_err(at(path, "note a temporary file for"))?;
        Ok(Self {
            folder: &place.folder,
            name,
            lock,
        })
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Makes the file. `Errno::NOENT` says that the folder was removed meanwhile.
    pub(super) fn create(&self) -> Result<OwnedFd, Errno> {
        rustix::fs::openat(self.folder, self.name.as_str(), CREATE, FILE_MODE)
    }
}

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        let removed = rustix::fs::unlinkat(self.folder, self.name.as_str(), AtFlags::empty());
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
