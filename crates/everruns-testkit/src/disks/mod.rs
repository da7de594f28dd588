//! Disks of a test's own: full ones, and of file systems that the machine's own disk isn't.
//!
//! Mounting takes root. A test that cannot have its disk says so on standard error; in CI (`CI=true` or `CI=1`) it fails.

mod mounted;
mod small;

pub use mounted::{MountedDisk, run};
pub use small::SmallDisk;
