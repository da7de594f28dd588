use std::sync::Arc;

use everruns_core::clock::{Clock, SystemClock};

/// Bounds and clock of a [`MemoryFileSystem`](super::MemoryFileSystem).
#[derive(Clone, Debug)]
pub struct MemoryOptions {
    /// The largest file, in bytes.
    pub max_file_bytes: u64,
    /// The most bytes of all files of one tree together. What forks share counts in each.
    pub max_total_bytes: u64,
    /// Tells when files change.
    pub clock: Arc<dyn Clock>,
}

impl Default for MemoryOptions {
    /// 64 MiB a file, 1 GiB in all, the host's clock.
    fn default() -> Self {
        Self {
            max_file_bytes: 64 << 20,
            max_total_bytes: 1 << 30,
            clock: Arc::new(SystemClock),
        }
    }
}
