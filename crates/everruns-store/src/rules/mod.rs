//! Decisions on what was read inside a transaction: the same for both databases, and without any I/O.

mod append;
mod bind;
mod fork;
mod lease;
mod page;

pub(crate) use append::{Append, Batch, decide as append};
pub(crate) use bind::{Bind, decide as bind};
pub(crate) use fork::{Fork, OPERATION as FORK};
pub(crate) use lease::{Claim, check_deletable, check_present};
pub(crate) use page::{EventWindow, SessionWindow};
