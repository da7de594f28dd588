//! Commits of a head's working state, in somebody's name.

mod identity;
mod message;
mod selection;
mod working_state;

pub(crate) use identity::Identity;
pub(crate) use message::clean;
pub(crate) use working_state::{Committed, commit};
