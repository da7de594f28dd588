//! Stand-ins whose behaviour a test controls.

mod clock;
mod entropy;
mod faulty;
mod refusing;
mod unflushed;

pub use clock::ManualClock;
pub use entropy::SeededEntropy;
pub use faulty::{Fault, FaultyFileSystem, Moment};
pub use refusing::RefusingFileSystem;
pub use unflushed::UnflushedFileSystem;
