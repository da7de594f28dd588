//! Looking for leftovers, explaining them, and putting right what is provably this backend's own.
//!
//! What exists is listed first, and only then whether an operation under way or a head accounts for it; operations
//! record their intent before they make anything and clear it after their head is recorded, so nothing in use is ever
//! taken for a leftover.

mod context;
mod locks;
mod repository;
mod state;
mod worktrees;

use std::sync::Arc;

use everruns_core::workspace::DoctorReport;

use self::context::Examination;
use crate::context::Context;
use crate::error::Result;

/// Examines the state folder and every repository that it knows; with `repair`, puts right what may be.
pub(crate) fn examine(context: &Arc<Context>, repair: bool) -> Result<DoctorReport> {
    let mut examination = Examination::new(context, repair);
    state::operations(&mut examination)?;
    state::trash(&mut examination)?;
    for workspace in state::workspaces(&mut examination)? {
        state::names(&mut examination, &workspace)?;
        state::temporaries(&mut examination, &workspace)?;
        if !repository::is_there(&mut examination, &workspace) {
            continue;
        }
        worktrees::folders(&mut examination, &workspace)?;
        worktrees::records(&mut examination, &workspace)?;
        worktrees::heads(&mut examination, &workspace)?;
        locks::user_indexes(&mut examination, &workspace)?;
        locks::worktrees(&mut examination, &workspace)?;
        repository::branches(&mut examination, &workspace)?;
        repository::checkpoints(&mut examination, &workspace)?;
        repository::reference_locks(&mut examination, &workspace)?;
    }
    Ok(examination.into_report())
}
