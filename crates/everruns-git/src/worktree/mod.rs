//! Linked worktrees: their record in the repository, their files, and the proof that both are ours.

mod checkout;
mod contents;
mod conversion;
mod record;
mod remove;
mod verify;

pub(crate) use checkout::populate;
pub(crate) use contents::LatestContents;
pub(crate) use conversion::{conversion, store};
pub(crate) use record::{NewRecord, Worktree};
pub(crate) use remove::delete;
pub(crate) use verify::is_linked;
