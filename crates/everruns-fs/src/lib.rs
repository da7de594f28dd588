//! The file stack of everruns: one way to the bytes of a head.
//!
//! Outermost first: seeded files ([`seeded`]) → policy ([`policy`]) → mounts ([`mounts`]) → the head's own file system,
//! which is on disk ([`disk`]) or in memory ([`memory`]). [`backend`] has the two backends that need no version
//! control: memory and directory.

pub mod backend;
pub mod disk;
pub mod memory;
pub mod mounts;
pub mod policy;
pub mod search;
pub mod seeded;
