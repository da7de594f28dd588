//! Checkpoints: the whole state of a head as commits, without touching the head.
//!
//! A checkpoint of uncommitted work is a commit with the files' tree, and as parents the commit that `HEAD` named,
//! a commit with the index's tree and, if there is more to say, a commit with the manifest. The first two are laid
//! out as `git stash` does it, so that Git's own tools can read them.

mod capture;
mod commit;
mod content;
mod history;
mod learned;
mod manifest;
mod paths;
mod prune;
mod reference;
mod store;

pub(crate) use capture::{
    Capture, Captured, capture, capture_away, capture_in_memory, capture_with_changes, head_of,
};
pub(crate) use history::{expect_no_checkpoint, expect_no_checkpoints};
pub(crate) use manifest::{Manifest, StageEntry};
pub(crate) use paths::capture_paths;
pub(crate) use prune::{Pruned, prune};
pub(crate) use reference::{Checkpoint, find, list, newest};
pub(crate) use store::{Taken, take, take_captured};
