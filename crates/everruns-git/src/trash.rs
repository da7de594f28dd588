//! Deleting the working trees of destroyed heads, apart from who destroyed them.
//!
//! A destruction has only to move the folder away. What lies in the trash belongs to no head any more, so it can be
//! deleted by anybody at any time: by a thread of this process now, or by the next backend over this state.

use std::fs;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use crate::error::Result;
use crate::state::Layout;
use crate::worktree::delete;

/// How many processes may be deleting the same folder before one of them leaves it to the others.
const DELETERS: usize = 4;

/// How nice the thread is that deletes.
#[cfg(target_os = "linux")]
const BEHIND_OTHERS: i32 = 10;

/// The one thread of a backend that deletes.
#[derive(Debug, Default, Clone)]
pub(crate) struct Trash {
    worker: Arc<Mutex<Worker>>,
}

/// What the thread is doing.
#[derive(Debug, Default)]
struct Worker {
    running: bool,
    /// Whether something was put into the trash since the thread last looked.
    more: bool,
}

impl Trash {
    /// Has everything deleted that is in the trash of `layout`, without waiting for it.
    pub(crate) fn empty_soon(&self, layout: &Layout) {
        {
            let mut worker = self.worker.lock().unwrap_or_else(PoisonError::into_inner);
            worker.more = true;
            if worker.running {
                return;
            }
            worker.running = true;
        }
        let (shared, layout) = (Arc::clone(&self.worker), layout.clone());
        let thread = thread::Builder::new().name("everruns-trash".to_owned());
        let spawned = thread.spawn(move || work(&shared, &layout));
        if let Err(failure) = spawned {
            self.worker
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .running = false;
            tracing::warn!(error = %failure, "no thread to empty the trash; the next open does it");
        }
    }
}

fn work(shared: &Mutex<Worker>, layout: &Layout) {
    yield_to_others();
    loop {
        {
            let mut worker = shared.lock().unwrap_or_else(PoisonError::into_inner);
            if !worker.more {
                worker.running = false;
                return;
            }
            worker.more = false;
        }
        if let Err(failure) = empty(layout) {
            tracing::warn!(error = %failure, "the trash can't be emptied yet; the next open tries again");
        }
    }
}

/// Has this thread go on only as far as others leave time: nobody waits for it.
fn yield_to_others() {
    // On Linux this is about the thread that calls, and not about the process.
    #[cfg(target_os = "linux")]
    if let Err(failure) = rustix::process::setpriority_process(None, BEHIND_OTHERS) {
        tracing::debug!(error = %failure, "the trash is emptied as fast as everything else is done");
    }
}

/// Deletes everything that is in the trash of `layout`. Others may be doing the same.
pub(crate) fn empty(layout: &Layout) -> Result<()> {
    let mut outcome = Ok(());
    for id in layout.trashed()? {
        // One folder that can't be deleted doesn't keep the others.
        let folder = layout.trash(&id);
        // Whoever deletes the same folder takes entries from under this deletion, which then ends early.
        for _ in 0..DELETERS {
            let deleted = delete(&folder);
            if fs::symlink_metadata(&folder).is_err() {
                break;
            }
            outcome = deleted.and(outcome);
        }
    }
    outcome
}
