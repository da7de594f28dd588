//! Checkpoints: the whole state of a head as commits, without touching the head.
//!
//! A checkpoint of uncommitted work is a commit with the files' tree, and as parents the commit that `HEAD` named,
//! a commit with the index's tree and, if there is more to say, a commit with the manifest. The first two are laid
//! out as `git stash` does it, so that Git's own tools can read them.

mod capture;
mod commit;
mod manifest;
mod prune;
mod reference;
mod store;

pub(crate) use capture::{Captured, capture};
pub(crate) use manifest::{Manifest, StageEntry};
pub(crate) use prune::{Pruned, prune};
pub(crate) use reference::{Checkpoint, find, list};
pub(crate) use store::{flush_objects, flush_reference, take, take_captured};
