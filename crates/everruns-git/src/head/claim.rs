//! Claiming a head for a session.

use super::handle::{Handle, destroyed};
use crate::error::{GitError, Result};
use crate::state::{Claim, HeadRecord, HeadState};

/// Claims the head for `session`, which may have claimed it before. A shared head takes any number.
pub(crate) fn claim(handle: &Handle, session: &str) -> Result<()> {
    if handle.record.shared {
        return usable(&handle.reload()?);
    }
    // Under the lock nobody destroys or archives the head, so that its state holds until the claim is recorded.
    let _lock = handle.lock()?;
    let record = handle.reload()?;
    usable(&record)?;
    Claim::take(handle.layout(), &record, session, handle.context.now())
}

fn usable(record: &HeadRecord) -> Result<()> {
    match record.state {
        HeadState::Ready => Ok(()),
        HeadState::Archived => Err(GitError::HeadArchived {
            id: record.id.clone(),
        }),
        HeadState::Destroyed => Err(destroyed(record)),
    }
}
