//! An example of a custom backend: heads as journalled maps from path to content.
//!
//! The state folder holds `journal.json`, which is replaced as a whole by every change, and `contents/`, where
//! the bytes lie under their hash. A checkpoint or a fork is a copy of a map. Several processes may use one
//! state folder: a file lock orders them.

mod backend;
mod diff;
mod file_system;
mod grep;
mod head;
mod journal_file;
mod records;
mod search;
mod tree;

pub(crate) use backend::JournalBackend;
