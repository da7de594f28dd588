//! Heads: making them, using them, and ending them.

mod apply;
mod archive;
mod busy;
mod claim;
mod create;
mod dead_locks;
mod destroy;
mod handle;
mod kept;
mod last_kept;
mod last_look;
mod only_here;
mod plan;
mod prune;
mod recover;
mod restore;
mod submodule_tips;
mod submodules;

pub(crate) use apply::write;
pub(crate) use archive::{archive, unarchive};
pub(crate) use busy::InUse;
pub(crate) use claim::claim;
pub(crate) use create::{NewHead, Start, create};
pub(crate) use destroy::destroy;
pub(crate) use handle::Handle;
pub(crate) use kept::kept;
pub(crate) use last_kept::LastKept;
pub(crate) use plan::{Step, check_way, plan};
pub(crate) use prune::prune;
pub(crate) use recover::{is_head, is_in_use, recover, recover_head, settle_own};
pub(crate) use restore::{Planned, plan_restore, restore};
