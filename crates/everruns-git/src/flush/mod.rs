//! Bringing what a reference is going to vouch for to the disk, before it does.

mod folders;
mod objects;
mod reference;
mod together;

pub(crate) use objects::FlushedObjects;
pub(crate) use reference::flush_reference;
