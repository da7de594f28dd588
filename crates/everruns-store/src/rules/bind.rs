use everruns_core::ids::SessionId;
use everruns_core::session::StoreError;
use everruns_core::workspace::WorkspaceBinding;

use crate::rows::BindingRow;

/// What to do about a binding.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Bind {
    /// It is there.
    Done,
    /// Store it.
    Insert,
}

/// Decides on `binding`, given whether the session is recorded and what it is bound to.
pub(crate) fn decide(
    session: &SessionId,
    binding: &WorkspaceBinding,
    row: Option<BindingRow>,
) -> Result<Bind, StoreError> {
    let row = row.ok_or_else(|| StoreError::NotFound {
        session: session.clone(),
    })?;
    match row.into_binding(session)? {
        None => Ok(Bind::Insert),
        Some(present) if present == *binding => Ok(Bind::Done),
        Some(present) => Err(StoreError::AlreadyBound {
            session: session.clone(),
            head: present.head_id,
        }),
    }
}
