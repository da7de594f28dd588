use everruns_core::clock::Timestamp;
use everruns_core::ids::SessionId;
use everruns_core::session::{FencingToken, LeaseOwner, StoreError};

use crate::rows::{LeaseRow, from_stored, to_stored};

/// The token with which `owner` may take or extend the lease at `now`.
///
/// A lease that nobody took over since it expired still has the token that guards the last change, so its owner
/// extends it; anyone else gets a greater one.
pub(crate) fn acquire(
    session: &SessionId,
    row: Option<LeaseRow>,
    owner: &LeaseOwner,
    now: Timestamp,
) -> Result<FencingToken, StoreError> {
    let row = row.ok_or_else(|| StoreError::NotFound {
        session: session.clone(),
    })?;
    let token = match row.token {
        Some(token) => from_stored(session, "token", token)?,
        None => 0,
    };
    if row.owner.as_ref() == Some(&owner.0) {
        return Ok(FencingToken(token));
    }
    refuse_held(session, &row, now)?;
    let next = token.saturating_add(1);
    to_stored("take a lease", next)?;
    Ok(FencingToken(next))
}

/// Refuses unless the session is recorded and nobody executes it at `now`.
pub(crate) fn check_free(
    session: &SessionId,
    row: Option<LeaseRow>,
    now: Timestamp,
) -> Result<(), StoreError> {
    let row = row.ok_or_else(|| StoreError::NotFound {
        session: session.clone(),
    })?;
    refuse_held(session, &row, now)
}

fn refuse_held(session: &SessionId, row: &LeaseRow, now: Timestamp) -> Result<(), StoreError> {
    match (&row.owner, row.expires_at.map(Timestamp::from_millis)) {
        (Some(owner), Some(expires_at)) if expires_at > now => Err(StoreError::LeaseHeld {
            session: session.clone(),
            owner: LeaseOwner(owner.clone()),
            expires_at,
        }),
        _ => Ok(()),
    }
}
