use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use everruns_core::failpoint::arm;

/// A step that waits is given up after this long, so that a mistaken test ends.
const PATIENCE: Duration = Duration::from_secs(30);

#[derive(Default)]
struct State {
    waiting: usize,
    open: bool,
}

/// A step at which operations wait. Dropping it lets them go on.
#[must_use = "dropping it lets the operations go on"]
pub struct Pause {
    shared: Arc<(Mutex<State>, Condvar)>,
}

/// Holds every operation that reaches the step `name`, on its own thread.
///
/// A test on a runtime with one thread would hold itself: it needs the multi-threaded one.
pub fn pause_at(name: &str) -> Pause {
    let shared = Arc::new((Mutex::new(State::default()), Condvar::new()));
    let pause = Pause {
        shared: Arc::clone(&shared),
    };
    arm(name, move || {
        let mut state = lock(&shared.0);
        state.waiting += 1;
        shared.1.notify_all();
        let waited = shared
            .1
            .wait_timeout_while(state, PATIENCE, |state| !state.open);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        state.waiting -= 1;
        true
    });
    pause
}

impl Pause {
    /// Blocks this thread until an operation waits at the step; `false` when none came in 30 seconds.
    pub fn wait_until_reached(&self) -> bool {
        let (mutex, condvar) = &*self.shared;
        let waited = condvar.wait_timeout_while(lock(mutex), PATIENCE, |state| state.waiting == 0);
        waited.unwrap_or_else(PoisonError::into_inner).0.waiting > 0
    }

    /// Lets all operations go on, now and later.
    pub fn resume(&self) {
        lock(&self.shared.0).open = true;
        self.shared.1.notify_all();
    }
}

impl Drop for Pause {
    fn drop(&mut self) {
        self.resume();
    }
}

impl std::fmt::Debug for Pause {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let waiting = lock(&self.shared.0).waiting;
        f.debug_struct("Pause").field("waiting", &waiting).finish()
    }
}

fn lock(mutex: &Mutex<State>) -> MutexGuard<'_, State> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
