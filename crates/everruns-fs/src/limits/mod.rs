//! How much a session may write, whatever file system it is over.

mod file_limits;
mod file_system;
mod usage;

pub use file_limits::FileLimits;
pub use file_system::LimitsFileSystem;
pub use usage::FileUsage;
