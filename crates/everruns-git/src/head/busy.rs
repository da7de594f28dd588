//! Whether somebody is at work on a head right now.

use std::thread;
use std::time::{Duration, Instant};

use super::handle::{Handle, destroyed};
use super::recover::{is_whole, settle_files};
use crate::error::{GitError, Result};
use crate::state::{HeadState, Layout, Lock, PATIENCE};

/// How long who needs a head alone waits: a child that is just being started has the marks of its parent for a moment.
const GRACE: Duration = Duration::from_millis(250);

/// The mark of a turn that runs: as long as it is held, nobody destroys the head or brings its files elsewhere.
///
/// Turns share it, and an operation that rewrites the head's files has it alone from before its intent until that is
/// cleared. So with the mark in hand, an intent about those files is one whose process is gone.
///
/// A claim stays recorded when its process ends, because the session may be resumed; this mark goes. An idle session
/// has none, so that it costs no open file: what somebody does to its head meanwhile, its next turn finds done.
#[derive(Debug)]
pub(crate) struct InUse {
    _lock: Lock,
}

impl InUse {
    /// Marks the head as in use, beside any others who do. An operation that is rewriting its files is waited for.
    ///
    /// What a process that is gone left half done is finished or undone before: later, that would undo the turn's work.
    pub(crate) fn hold(handle: &Handle) -> Result<Self> {
        let started = Instant::now();
        let mut pause = Duration::from_millis(1);
        loop {
            let busy = match Self::attempt(handle) {
                Ok(Some(mark)) => return Ok(mark),
                Ok(None) => GitError::HeadInUse {
                    id: handle.record.id.clone(),
                },
                // Another one who is about to hold it looks at the same intent.
                Err(failure @ GitError::HeadInUse { .. }) => failure,
                Err(failure) => return Err(failure),
            };
            if started.elapsed() > PATIENCE {
                return Err(busy);
            }
            thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(50));
        }
    }

    /// The mark, if nobody has it alone; what is half done is made up for first, and then there is none yet.
    fn attempt(handle: &Handle) -> Result<Option<Self>> {
        let path = handle.layout().use_lock(&handle.record.id);
        let mark = Lock::try_share(&path)?.map(|lock| Self { _lock: lock });
        // With the mark, nobody destroys the head any more; only then is its state worth looking at.
        let record = handle.reload()?;
        if record.state == HeadState::Destroyed {
            return Err(destroyed(&record));
        }
        let Some(mark) = mark else {
            return Ok(None);
        };
        if is_whole(handle)? {
            return Ok(Some(mark));
        }
        drop(mark);
        settle_files(handle).map(|()| None)
    }

    /// Takes the head `id` for a recovery; `None` if somebody uses it.
    pub(crate) fn exclude(layout: &Layout, id: &str) -> Result<Option<Self>> {
        let path = layout.use_lock(id);
        Ok(Lock::try_acquire(&path)?.map(|lock| Self { _lock: lock }))
    }

    /// Takes the head `id` for what destroys it or rewrites its files; `HeadHeld` if a turn runs on it.
    pub(crate) fn alone(layout: &Layout, id: &str) -> Result<Self> {
        let started = Instant::now();
        loop {
            if let Some(mark) = Self::exclude(layout, id)? {
                return Ok(mark);
            }
            if started.elapsed() > GRACE {
                return Err(GitError::HeadHeld { id: id.to_owned() });
            }
            thread::sleep(Duration::from_millis(5));
        }
    }
}
