//! A branch and the worktree that has it checked out, moved together.
//!
//! Files go first, then the index, then the branch, and last the notes of a merge. What is going to be done is
//! recorded before, so that a crash is made up for at the next open.

mod content;
mod index;
mod merge_state;
mod record;
mod recover;
mod refresh;
mod run;
mod storable;

pub(crate) use content::Contents;
pub(crate) use merge_state::{MergeState, merging};
pub(crate) use record::{Advance, Trees};
pub(crate) use recover::recover;
pub(crate) use refresh::refresh;
pub(crate) use run::{run, run_locked};
pub(crate) use storable::expect_storable;
