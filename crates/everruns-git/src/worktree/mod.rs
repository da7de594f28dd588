//! Linked worktrees: their record in the repository, their files, and the proof that both are ours.

mod checkout;
mod contents;
mod conversion;
mod reader;
mod record;
mod remove;
mod verify;

pub(crate) use checkout::populate;
pub(crate) use contents::LatestContents;
pub(crate) use conversion::conversion;
pub(crate) use reader::{Entry, Keep, Reader, Why, read_each};
pub(crate) use record::{LOCK_REASON, NewRecord, Worktree};
pub(crate) use remove::delete;
pub(crate) use verify::is_linked;
