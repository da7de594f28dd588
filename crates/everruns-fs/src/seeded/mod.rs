//! Files that an application puts into a session: written once, or only to be read.

mod error;
mod file_system;
mod listing;
mod merge;
mod plant;
mod search;
mod seeds;

pub use error::SeedError;
pub use file_system::SeededFileSystem;
pub use seeds::SeededFile;
