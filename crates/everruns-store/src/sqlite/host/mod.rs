//! Whether the file lies where locks and shared memory work as SQLite needs them.

mod check;
#[cfg(target_os = "linux")]
mod fuse;

pub(super) use check::check;
