use std::sync::atomic::{AtomicU64, Ordering};

use everruns_core::file_system::FileSystemError;
use everruns_core::path::WorkspacePath;

use super::FileLimits;

/// What was written through a [`LimitsFileSystem`](super::LimitsFileSystem) so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct FileUsage {
    /// How many files and folders were made.
    pub files: u64,
    /// How many bytes were written.
    pub bytes: u64,
}

#[derive(Debug)]
pub(super) struct Usage {
    files: AtomicU64,
    bytes: AtomicU64,
}

/// A part of the limits, taken before a change. What was taken is given back when the change fails, and kept
/// when nobody waited for its end, as it may have been made.
#[derive(Debug)]
#[must_use = "what was taken for a failed change is given back"]
pub(super) struct Taken<'a> {
    usage: &'a Usage,
    files: u64,
    bytes: u64,
}

impl Usage {
    pub(super) fn starting_at(used: FileUsage) -> Self {
        Self {
            files: AtomicU64::new(used.files),
            bytes: AtomicU64::new(used.bytes),
        }
    }

    pub(super) fn now(&self) -> FileUsage {
        FileUsage {
            files: self.files.load(Ordering::SeqCst),
            bytes: self.bytes.load(Ordering::SeqCst),
        }
    }

    pub(super) fn take(
        &self,
        limits: &FileLimits,
        path: &WorkspacePath,
        files: u64,
        bytes: u64,
    ) -> Result<Taken<'_>, FileSystemError> {
        let reached = |what, limit: Option<u64>| FileSystemError::LimitReached {
            path: path.clone(),
            what,
            // Without a limit, only the counter's own end can be reached.
            limit: limit.unwrap_or(u64::MAX),
        };
        add(&self.files, files, limits.files)
            .ok_or_else(|| reached("new files and folders", limits.files))?;
        if add(&self.bytes, bytes, limits.total_bytes).is_none() {
            self.files.fetch_sub(files, Ordering::SeqCst);
            return Err(reached("bytes written in all", limits.total_bytes));
        }
        Ok(Taken {
            usage: self,
            files,
            bytes,
        })
    }
}

impl Taken<'_> {
    pub(super) fn give_back(self) {
        self.usage.files.fetch_sub(self.files, Ordering::SeqCst);
        self.usage.bytes.fetch_sub(self.bytes, Ordering::SeqCst);
    }
}

/// Adds `more` unless that exceeds `limit`. Adding nothing always succeeds.
fn add(counter: &AtomicU64, more: u64, limit: Option<u64>) -> Option<u64> {
    let next = |now: u64| {
        now.checked_add(more)
            .filter(|sum| more == 0 || limit.is_none_or(|limit| *sum <= limit))
    };
    counter
        .fetch_update(Ordering::SeqCst, Ordering::SeqCst, next)
        .ok()
}
