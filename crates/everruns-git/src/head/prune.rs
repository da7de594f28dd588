//! Forgetting a head's checkpoints, but none that something still needs.

use std::collections::BTreeSet;

use everruns_core::failpoint::hit;

use super::handle::Handle;
use crate::checkpoint::{self, Pruned};
use crate::error::Result;
use crate::state::{HeadRecord, Intent, Lock, Operation};

/// Forgets all but the latest `keep` checkpoints of the head.
pub(crate) fn prune(handle: &Handle, keep: usize) -> Result<Pruned> {
    let _lock = handle.lock()?;
    let layout = handle.layout();
    let mut needed = BTreeSet::new();
    for record in HeadRecord::all(layout, &handle.workspace.id)? {
        // What a receipt named has to be there for as long as the record says so.
        needed.extend(record.kept);
        needed.extend(record.origin.map(|origin| origin.checkpoint));
        if let Some(Intent {
            operation: Operation::Restore { checkpoint, before },
            ..
        }) = Intent::load(layout, &record.id)?
        {
            needed.insert(checkpoint);
            needed.extend(before);
        }
    }
    hit("git.prune.after-needed")?;
    let repository = handle.context.repository(&handle.workspace)?;
    let _shared = Lock::acquire(
        &layout.repository_lock(&handle.workspace.id),
        &handle.workspace.id,
    )?;
    let now = handle.context.now();
    checkpoint::prune(&repository, &handle.record.id, keep, &needed, now)
}
