//! Commands on a head, confined by the kernel where the host can.
//!
//! | compute | writes confined | reads confined | network denied |
//! |---|---|---|---|
//! | [`HostCompute`] | no | no | no |
//! | `LandlockCompute` (Linux) | yes | yes | yes, unless allowed |
//!
//! A compute says in [`isolation`](everruns_core::compute::Compute::isolation) what the kernel enforces. Where the host
//! can't enforce it, nothing runs.
//!
//! Every command, confined or not:
//!
//! * runs in its own process group, with a private `HOME` and `TMPDIR` that are deleted behind it;
//! * sees `PATH`, `HOME`, `TMPDIR`, `LANG`, `TERM` and what its request sets, and nothing else of our environment;
//!   a request that sets a variable which changes what other programs execute, or which looks like a credential, is
//!   refused;
//! * ends with all its children: at its exit, at its time limit, and when its future is dropped.

mod folder;
mod host;
#[cfg(target_os = "linux")]
mod landlock;
mod process;

pub use host::HostCompute;
#[cfg(target_os = "linux")]
pub use landlock::{LandlockBuilder, LandlockCompute};
