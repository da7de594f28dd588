use std::os::fd::OwnedFd;
use std::path::Path;

use everruns_core::session::StoreError;
use rustix::fs::{FlockOperation, Mode, OFlags, flock};
use rustix::io::Errno;

use super::super::backup::failed;
use super::run::REPLACE;

/// Keeps other restorations out of a folder. It ends with its process, so that what one of them left is known to be
/// nobody's.
pub(super) struct Alone {
    _folder: OwnedFd,
}

impl Alone {
    /// Waits for nobody: `InUse` while another restoration is at work. `None` where the file system has no such locks.
    pub(super) fn take(location: &Path) -> Result<Option<Self>, StoreError> {
        let folder = location.parent().unwrap_or(location);
        let opened = rustix::fs::open(folder, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty());
        let folder = opened.map_err(|error| failed(REPLACE, error.into()))?;
        match flock(&folder, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(Self { _folder: folder })),
            Err(Errno::WOULDBLOCK) => Err(StoreError::InUse {
                location: location.to_owned(),
            }),
            Err(_) => Ok(None),
        }
    }
}
