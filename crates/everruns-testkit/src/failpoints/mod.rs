//! Steps at which a test fails, stops or kills the process.
//!
//! The armed steps are those of [`everruns_core::failpoint`]. They belong to the process, so that a test that
//! arms one runs in a process of its own, as nextest does it, or as a [`Child`].

mod arm;
mod child;
mod pause;

pub use arm::{fail_at, fail_at_nth, kill_at, kill_at_nth, kill_this_process};
pub use child::{Child, ChildOutcome, argument, is_child};
pub use everruns_core::failpoint::{disarm_all, reached};
pub use pause::{Pause, pause_at};
