//! Rows as both databases give them, and the records they stand for.

mod binding;
mod event;
mod number;
mod session;

pub(crate) use binding::{BindingRow, holder_of};
pub(crate) use event::{AppendRow, EventRow, LeaseRow, PlacedRow};
pub(crate) use number::{from_stored, to_stored};
pub(crate) use session::SessionRow;
