use std::sync::atomic::{AtomicUsize, Ordering};

use everruns_core::failpoint::arm;
use rustix::process::{Signal, getpid, kill_process};

/// Ends this process by SIGKILL, as a crash would: nothing is flushed and no destructor runs.
///
/// # Panics
/// When the system does not let a process kill itself.
pub fn kill_this_process() -> ! {
    let killed = kill_process(getpid(), Signal::KILL);
    unreachable!("this process outlived its SIGKILL: {killed:?}");
}

/// Kills the process when the step `name` is reached.
pub fn kill_at(name: &str) {
    kill_at_nth(name, 1);
}

/// Kills the process when the step `name` is reached for the `nth` time, counted from 1.
pub fn kill_at_nth(name: &str, nth: usize) {
    let reached = AtomicUsize::new(0);
    arm(name, move || {
        if reached.fetch_add(1, Ordering::SeqCst) + 1 == nth {
            kill_this_process();
        }
        true
    });
}

/// Fails the operation whenever the step `name` is reached.
pub fn fail_at(name: &str) {
    arm(name, || false);
}

/// Fails the operation when the step `name` is reached for the `nth` time, counted from 1, and only then.
pub fn fail_at_nth(name: &str, nth: usize) {
    let reached = AtomicUsize::new(0);
    arm(name, move || {
        reached.fetch_add(1, Ordering::SeqCst) + 1 != nth
    });
}
