//! The state folder: layout, records, locks, claims and intents.

mod claim;
pub(crate) mod durable;
mod head_record;
mod holder;
pub(crate) mod id_text;
mod intent;
mod layout;
mod lock;
pub(crate) mod merge_notes;
mod name;
pub(crate) mod path_text;
mod pick_notes;
pub(crate) mod record;
mod workspace_record;

pub(crate) use claim::Claim;
pub(crate) use head_record::{HeadRecord, HeadState, Origin, is_head_id};
pub(crate) use holder::Holder;
pub(crate) use intent::{Intent, Operation};
pub(crate) use layout::Layout;
pub(crate) use lock::{Lock, PATIENCE};
pub(crate) use merge_notes::MergeNotes;
pub(crate) use name::NameSlot;
pub(crate) use pick_notes::PickNotes;
pub(crate) use workspace_record::WorkspaceRecord;
