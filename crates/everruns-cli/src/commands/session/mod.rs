//! `everruns session …`

mod delete;
mod dispatch;
mod events;
mod find;
mod fork;
mod line;
mod lines;
mod list;
mod names;
mod open;
mod places;
mod rewind;
mod show;
mod text;
mod transfer;

pub(crate) use dispatch::run;
pub(crate) use find::find_bound;
