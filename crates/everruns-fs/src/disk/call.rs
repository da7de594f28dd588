use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use everruns_core::file_system::FileSystemError;
use everruns_core::path::WorkspacePath;

/// Tells the work of a change whether its caller still waits for it.
///
/// Work that has its lock goes on to its end, and a later change of the same path waits for that lock. Work
/// that gets its lock after it was abandoned changes nothing. So an abandoned change never undoes a later one.
#[derive(Clone, Debug, Default)]
pub(super) struct Call {
    abandoned: Arc<AtomicBool>,
}

/// Marks the call as abandoned when it is dropped.
#[derive(Debug)]
pub(super) struct Caller(Call);

impl Call {
    pub(super) fn caller(&self) -> Caller {
        Caller(self.clone())
    }

    /// Refuses to begin what nobody waits for; the error reaches nobody.
    pub(super) fn must_be_awaited(&self, path: &WorkspacePath) -> Result<(), FileSystemError> {
        if !self.abandoned.load(Ordering::SeqCst) {
            return Ok(());
        }
        Err(FileSystemError::Io {
            path: path.clone(),
            step: "begin, as nobody waits any more, with",
            source: io::ErrorKind::Interrupted.into(),
        })
    }
}

impl Drop for Caller {
    fn drop(&mut self) {
        self.0.abandoned.store(true, Ordering::SeqCst);
    }
}
