use std::time::Duration;

use everruns_core::clock::Timestamp;
use everruns_core::ids::SessionId;
use everruns_core::session::{FencingToken, HeldLease, Lease, LeaseOwner, StoreError};

use crate::rows::{LeaseRow, from_stored, to_stored};

/// Who asks for a lease, and what for.
#[derive(Debug)]
pub(crate) struct Claim {
    pub(crate) session: SessionId,
    pub(crate) owner: LeaseOwner,
    /// The lease of another owner that may be taken over.
    pub(crate) over: Option<HeldLease>,
    pub(crate) now: Timestamp,
    pub(crate) duration: Duration,
}

impl Claim {
    /// The lease that this gets where `row` is what there is. A new token is at least `least`.
    ///
    /// An owner extends what it has, whenever that ends; anyone else gets a greater token.
    pub(crate) fn judge(&self, row: Option<LeaseRow>, least: u64) -> Result<Lease, StoreError> {
        let row = row.ok_or_else(|| not_found(&self.session))?;
        let last = last_token(&self.session, &row)?;
        let end = self.now.plus(self.duration);
        let (token, expires_at) = match holder(&self.session, &row) {
            Some((held, _)) if held.owner == self.owner => {
                let later = held.expires_at.plus(Duration::from_millis(1));
                (last, end.max(later))
            }
            Some((held, refusal)) if self.over.as_ref() != Some(&held) => return Err(refusal),
            _ => {
                let next = last.saturating_add(1).max(least);
                to_stored("take a lease", next)?;
                (next, end)
            }
        };
        Ok(Lease {
            session: self.session.clone(),
            owner: self.owner.clone(),
            token: FencingToken(token),
            expires_at,
        })
    }
}

/// Refuses unless the session is recorded and `token` is of its present lease.
pub(crate) fn check_present(
    session: &SessionId,
    row: Option<LeaseRow>,
    token: FencingToken,
) -> Result<(), StoreError> {
    let row = row.ok_or_else(|| not_found(session))?;
    if row.owner.is_some() && last_token(session, &row)? == token.0 {
        return Ok(());
    }
    Err(StoreError::Fenced {
        session: session.clone(),
        presented: token,
    })
}

/// Refuses a deletion unless the session is recorded and `token` is of its present lease, or nobody has one.
pub(crate) fn check_deletable(
    session: &SessionId,
    row: Option<LeaseRow>,
    token: Option<FencingToken>,
) -> Result<(), StoreError> {
    if let Some(token) = token {
        return check_present(session, row, token);
    }
    let row = row.ok_or_else(|| not_found(session))?;
    holder(session, &row).map_or(Ok(()), |(_, refusal)| Err(refusal))
}

fn not_found(session: &SessionId) -> StoreError {
    StoreError::NotFound {
        session: session.clone(),
    }
}

/// The latest token; 0 when there never was one.
fn last_token(session: &SessionId, row: &LeaseRow) -> Result<u64, StoreError> {
    row.token
        .map_or(Ok(0), |token| from_stored(session, "token", token))
}

/// Who has the lease, and what others are told.
fn holder(session: &SessionId, row: &LeaseRow) -> Option<(HeldLease, StoreError)> {
    let held = HeldLease {
        owner: LeaseOwner(row.owner.clone()?),
        expires_at: Timestamp::from_millis(row.expires_at?),
    };
    let refusal = StoreError::LeaseHeld {
        session: session.clone(),
        owner: held.owner.clone(),
        expires_at: held.expires_at,
    };
    Some((held, refusal))
}
