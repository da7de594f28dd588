/// What may be written through a [`LimitsFileSystem`](super::LimitsFileSystem). Nothing is limited until told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct FileLimits {
    /// The largest file that may be written, in bytes.
    pub file_bytes: Option<u64>,
    /// How many files and folders may be made.
    pub files: Option<u64>,
    /// How many bytes may be written in all.
    pub total_bytes: Option<u64>,
}

impl FileLimits {
    /// No limits.
    pub fn new() -> Self {
        Self::default()
    }

    /// Refuses to write a file of more than `bytes` bytes.
    #[must_use]
    pub fn file_bytes(mut self, bytes: u64) -> Self {
        self.file_bytes = Some(bytes);
        self
    }

    /// Refuses to make more than `count` files and folders. Removing one gives nothing back.
    #[must_use]
    pub fn files(mut self, count: u64) -> Self {
        self.files = Some(count);
        self
    }

    /// Refuses to write more than `bytes` bytes in all; each write counts whole. Removing gives nothing back.
    #[must_use]
    pub fn total_bytes(mut self, bytes: u64) -> Self {
        self.total_bytes = Some(bytes);
        self
    }
}
