//! Claims: the one session that may use an isolated head.

use serde::{Deserialize, Serialize};

use super::{HeadRecord, Layout, Lock, durable, record};
use crate::error::{GitError, Result};

/// The claim of a session on an isolated head.
///
/// It lies beside the head's record, so that two engines with different stores see the same one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Claim {
    /// The session that holds the head.
    pub(crate) session: String,
    /// When it was made, in milliseconds since the epoch.
    pub(crate) at: i64,
}

impl Claim {
    /// Claims `head` for `session`; the same session may do so again. The caller holds the head's lock.
    pub(crate) fn take(layout: &Layout, head: &HeadRecord, session: &str, at: i64) -> Result<()> {
        match Self::load(layout, head)? {
            Some(held) if held.session == session => Ok(()),
            Some(held) => Err(GitError::HeadClaimed {
                id: head.id.clone(),
                session: held.session,
            }),
            None => {
                let claim = Self {
                    session: session.to_owned(),
                    at,
                };
                record::save(&layout.claim(&head.workspace, &head.id), &claim)
            }
        }
    }

    /// Gives up the claim of `session` on `head`; does nothing if another session or none holds it.
    pub(crate) fn release(layout: &Layout, head: &HeadRecord, session: &str) -> Result<()> {
        let _lock = Lock::acquire(&layout.head_lock(&head.id), &head.id)?;
        match Self::load(layout, head)? {
            Some(held) if held.session == session => {
                durable::remove(&layout.claim(&head.workspace, &head.id))
            }
            _ => Ok(()),
        }
    }

    /// The claim on `head`, if there is one.
    pub(crate) fn load(layout: &Layout, head: &HeadRecord) -> Result<Option<Self>> {
        record::load(&layout.claim(&head.workspace, &head.id))
    }
}
