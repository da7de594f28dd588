//! Stand-ins whose behaviour a test controls.

mod below_root;
mod clock;
mod entropy;
mod faulty;
mod refusing;
mod unflushed;

pub use below_root::BelowRootFileSystem;
pub use clock::ManualClock;
pub use entropy::SeededEntropy;
pub use faulty::{Fault, FaultyFileSystem, Moment};
pub use refusing::RefusingFileSystem;
pub use unflushed::UnflushedFileSystem;
