//! Whether a process uses a head right now.

use super::handle::Handle;
use crate::error::Result;
use crate::state::{Layout, Lock};

/// The mark of a living claim: as long as it is held, the head is not destroyed from elsewhere.
///
/// A claim itself stays recorded when its process ends, because the session may be resumed; this mark goes.
#[derive(Debug)]
pub(crate) struct InUse {
    _lock: Lock,
}

impl InUse {
    /// Marks the head as in use, beside any others who do.
    pub(crate) fn mark(handle: &Handle) -> Result<Option<Self>> {
        let path = handle.layout().use_lock(&handle.record.id);
        Ok(Lock::try_share(&path)?.map(|lock| Self { _lock: lock }))
    }

    /// Takes the head `id` for its destruction or recovery; `None` if somebody uses it.
    pub(crate) fn exclude(layout: &Layout, id: &str) -> Result<Option<Self>> {
        let path = layout.use_lock(id);
        Ok(Lock::try_acquire(&path)?.map(|lock| Self { _lock: lock }))
    }
}
