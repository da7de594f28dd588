//! Archiving: the head is kept, but not opened again until somebody says so.

use everruns_core::failpoint::hit;

use super::handle::{Handle, destroyed};
use crate::error::Result;
use crate::state::{HeadRecord, HeadState};

/// Archives the head; one that is archived stays so.
pub(crate) fn archive(handle: &Handle) -> Result<HeadRecord> {
    change(handle, HeadState::Archived)
}

/// Makes an archived head usable again; any other living head stays as it is.
pub(crate) fn unarchive(handle: &Handle) -> Result<HeadRecord> {
    change(handle, HeadState::Ready)
}

fn change(handle: &Handle, state: HeadState) -> Result<HeadRecord> {
    let _lock = handle.lock()?;
    let mut record = handle.reload()?;
    if record.state == HeadState::Destroyed {
        return Err(destroyed(&record));
    }
    if record.state != state {
        record.state = state;
        hit("git.archive.before-record")?;
        record.save(handle.layout())?;
        hit("git.archive.after-record")?;
    }
    Ok(record)
}
