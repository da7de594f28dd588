//! Sharing work out between threads.

use std::num::NonZero;
use std::sync::OnceLock;
use std::thread;

use crate::error::Result;

/// How many threads can run at once. Asking the system takes as long as opening a dozen files.
pub(crate) fn cores() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(|| thread::available_parallelism().map_or(1, NonZero::get))
}

/// Has `work` done on parts of `items`, on as many cores as they are worth: `least` items are worth one. Each part gets
/// something of its own from `prepare`; the outcomes are in the order of the parts.
///
/// Comes back when all threads have ended. A panic goes on where it would have come up without threads.
pub(crate) fn share_out<T: Sync, P: Send, R: Send>(
    items: &[T],
    least: usize,
    mut prepare: impl FnMut() -> P,
    work: impl Fn(P, &[T]) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    let threads = (items.len() / least).clamp(1, cores());
    if threads == 1 {
        return Ok(vec![work(prepare(), items)?]);
    }
    let share = items.len().div_ceil(threads);
    thread::scope(|scope| {
        let running: Vec<_> = items
            .chunks(share)
            .map(|items| {
                let (own, work) = (prepare(), &work);
                scope.spawn(move || work(own, items))
            })
            .collect();
        let ended: Vec<_> = running
            .into_iter()
            .map(thread::ScopedJoinHandle::join)
            .collect();
        ended
            .into_iter()
            .map(|ended| ended.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    })
}
