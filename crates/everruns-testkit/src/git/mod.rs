//! Repositories made with the real `git`, and proofs that nothing of them changed.

mod command;
mod dirty;
mod fixture;
mod snapshot;

pub use command::GitOutput;
pub use fixture::GitFixture;
pub use snapshot::RepositorySnapshot;
