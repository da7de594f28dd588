//! Whether somebody is at work on a head right now.

use super::handle::{Handle, destroyed};
use super::recover::settle_files;
use crate::error::{GitError, Result};
use crate::state::{HeadState, Layout, Lock};

/// The mark of a turn that runs: as long as it is held, nobody destroys the head.
///
/// A claim stays recorded when its process ends, because the session may be resumed; this mark goes. An idle session
/// has none, so that it costs no open file: what somebody does to its head meanwhile, its next turn finds done.
#[derive(Debug)]
pub(crate) struct InUse {
    _lock: Lock,
}

impl InUse {
    /// Marks the head as in use, beside any others who do.
    ///
    /// What a process that is gone left half done is finished or undone before: later, that would undo the turn's work.
    pub(crate) fn hold(handle: &Handle) -> Result<Self> {
        settle_files(handle)?;
        let path = handle.layout().use_lock(&handle.record.id);
        let mark = Lock::try_share(&path)?.map(|lock| Self { _lock: lock });
        // With the mark, nobody destroys the head any more; only then is its state worth looking at.
        let record = handle.reload()?;
        if record.state == HeadState::Destroyed {
            return Err(destroyed(&record));
        }
        mark.ok_or(GitError::HeadInUse { id: record.id })
    }

    /// Takes the head `id` for its destruction or recovery; `None` if somebody uses it.
    pub(crate) fn exclude(layout: &Layout, id: &str) -> Result<Option<Self>> {
        let path = layout.use_lock(id);
        Ok(Lock::try_acquire(&path)?.map(|lock| Self { _lock: lock }))
    }
}
