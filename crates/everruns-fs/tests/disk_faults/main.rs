//! The disk file system stopped, failed and killed between the steps of a write, and on disks that really fail.
//!
//! The armed steps are the process's, so these tests are apart from others and run one at a time.

#![expect(clippy::unwrap_used, reason = "the helpers of tests panic, too")]

mod broken;
mod dying;
mod links;
mod moves;
mod quota;
mod steps;
#[expect(dead_code, reason = "the other tests of the disk use the rest")]
#[path = "../disk/support.rs"]
mod support;
