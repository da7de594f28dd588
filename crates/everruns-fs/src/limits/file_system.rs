use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use everruns_core::file_system::{
    ContentVersion, DirectoryPage, EntryIdentity, EntrySupport, FileContent, FileMode, FileStat,
    FileSystemError, LastLink, LinkTarget, PageRequest, Permissions, Precondition, ReadRange,
    Removal, Replace, SearchQuery, SearchStream, SessionFileSystem,
};
use everruns_core::path::WorkspacePath;

use super::usage::Usage;
use super::{FileLimits, FileUsage};

/// A file system through which only so much can be written.
///
/// * A file over [`FileLimits::file_bytes`] is [`TooLarge`](FileSystemError::TooLarge); more files or bytes than
///   allowed are [`LimitReached`](FileSystemError::LimitReached). Nothing has changed then.
/// * What is written is counted, not what is there: removing a file gives nothing back, and moving one costs
///   nothing but the folders made for it.
/// * A link counts as a file, and its text as bytes.
/// * A change that fails costs nothing. One whose future is dropped counts as made.
/// * Changes made at the same time never exceed a limit together; two that make one and the same file may
///   both be counted.
///
/// Clones share what is counted. To go on counting after a restart, start with
/// [`continuing`](Self::continuing).
#[derive(Clone, Debug)]
pub struct LimitsFileSystem {
    inner: Arc<dyn SessionFileSystem>,
    limits: FileLimits,
    usage: Arc<Usage>,
}

impl LimitsFileSystem {
    /// Puts `limits` on what is written to `inner`.
    pub fn new(inner: Arc<dyn SessionFileSystem>, limits: FileLimits) -> Self {
        Self::continuing(inner, limits, FileUsage::default())
    }

    /// As [`new`](Self::new), with what was `used` before counted in.
    pub fn continuing(
        inner: Arc<dyn SessionFileSystem>,
        limits: FileLimits,
        used: FileUsage,
    ) -> Self {
        Self {
            inner,
            limits,
            usage: Arc::new(Usage::starting_at(used)),
        }
    }

    /// The limits.
    pub fn limits(&self) -> FileLimits {
        self.limits
    }

    /// What was written so far.
    pub fn usage(&self) -> FileUsage {
        self.usage.now()
    }

    /// How many entries are missing on the way to `path`, itself included. Looked up only where files are limited.
    async fn missing(&self, path: &WorkspacePath) -> u64 {
        let mut missing = 0;
        let mut next = self.limits.files.map(|_| path.clone());
        while let Some(path) = next {
            match self.inner.stat(&path).await {
                Err(FileSystemError::NotFound { .. }) => missing += 1,
                // What is wrong with the path is told by the operation itself.
                Ok(_) | Err(_) => break,
            }
            next = path.parent();
        }
        missing
    }

    /// Refuses a file, or the text of a link, that is too large by itself.
    fn must_fit(&self, path: &WorkspacePath, size: u64) -> Result<(), FileSystemError> {
        match self.limits.file_bytes {
            Some(limit) if size > limit => Err(FileSystemError::TooLarge {
                path: path.clone(),
                size,
                limit,
            }),
            _ => Ok(()),
        }
    }

    /// Makes a change that makes `files` entries and writes `bytes` bytes.
    async fn limited<T>(
        &self,
        path: &WorkspacePath,
        files: u64,
        bytes: u64,
        change: impl Future<Output = Result<T, FileSystemError>> + Send,
    ) -> Result<T, FileSystemError> {
        let taken = self.usage.take(&self.limits, path, files, bytes)?;
        let result = change.await;
        if let Err(error) = &result
            && !error.is_of_a_made_change()
        {
            taken.give_back();
        }
        result
    }
}

#[async_trait]
impl SessionFileSystem for LimitsFileSystem {
    async fn read(
        &self,
        path: &WorkspacePath,
        range: ReadRange,
    ) -> Result<FileContent, FileSystemError> {
        self.inner.read(path, range).await
    }

    async fn write(
        &self,
        path: &WorkspacePath,
        bytes: Bytes,
        precondition: Precondition,
    ) -> Result<ContentVersion, FileSystemError> {
        self.write_with_mode(path, bytes, FileMode::Kept, precondition)
            .await
    }

    async fn write_with_mode(
        &self,
        path: &WorkspacePath,
        bytes: Bytes,
        mode: FileMode,
        precondition: Precondition,
    ) -> Result<ContentVersion, FileSystemError> {
        let size = bytes.len() as u64;
        self.must_fit(path, size)?;
        let files = match precondition {
            Precondition::Matches(_) => 0,
            Precondition::Any | Precondition::Absent => self.missing(path).await,
        };
        let write = self.inner.write_with_mode(path, bytes, mode, precondition);
        self.limited(path, files, size, write).await
    }

    async fn create_link(
        &self,
        path: &WorkspacePath,
        target: &LinkTarget,
        replace: Replace,
    ) -> Result<(), FileSystemError> {
        let size = target.as_bytes().len() as u64;
        self.must_fit(path, size)?;
        let files = match replace {
            Replace::Matches(_) => 0,
            Replace::Never | Replace::File => self.missing(path).await,
        };
        let create = self.inner.create_link(path, target, replace);
        self.limited(path, files, size, create).await
    }

    async fn read_link(&self, path: &WorkspacePath) -> Result<LinkTarget, FileSystemError> {
        self.inner.read_link(path).await
    }

    async fn remove(
        &self,
        path: &WorkspacePath,
        removal: Removal,
        precondition: Precondition,
    ) -> Result<(), FileSystemError> {
        self.inner.remove(path, removal, precondition).await
    }

    async fn rename(
        &self,
        from: &WorkspacePath,
        to: &WorkspacePath,
        replace: Replace,
    ) -> Result<(), FileSystemError> {
        let folders = self.missing(to).await.saturating_sub(1);
        let rename = self.inner.rename(from, to, replace);
        self.limited(to, folders, 0, rename).await
    }

    async fn create_dir(&self, path: &WorkspacePath) -> Result<(), FileSystemError> {
        let folders = self.missing(path).await;
        let create = self.inner.create_dir(path);
        self.limited(path, folders, 0, create).await
    }

    async fn create_dir_within(
        &self,
        path: &WorkspacePath,
        permissions: Permissions,
    ) -> Result<(), FileSystemError> {
        let folders = self.missing(path).await;
        let create = self.inner.create_dir_within(path, permissions);
        self.limited(path, folders, 0, create).await
    }

    async fn stat(&self, path: &WorkspacePath) -> Result<FileStat, FileSystemError> {
        self.inner.stat(path).await
    }

    async fn list(
        &self,
        dir: &WorkspacePath,
        page: PageRequest,
    ) -> Result<DirectoryPage, FileSystemError> {
        self.inner.list(dir, page).await
    }

    async fn search(&self, query: SearchQuery) -> Result<SearchStream, FileSystemError> {
        self.inner.search(query).await
    }

    async fn resolve(
        &self,
        path: &WorkspacePath,
        last: LastLink,
    ) -> Result<WorkspacePath, FileSystemError> {
        self.inner.resolve(path, last).await
    }

    async fn identity(
        &self,
        path: &WorkspacePath,
        last: LastLink,
    ) -> Result<Option<EntryIdentity>, FileSystemError> {
        self.inner.identity(path, last).await
    }

    async fn read_direct(
        &self,
        path: &WorkspacePath,
        range: ReadRange,
    ) -> Result<Option<FileContent>, FileSystemError> {
        self.inner.read_direct(path, range).await
    }

    async fn stat_direct(&self, path: &WorkspacePath) -> Result<Option<FileStat>, FileSystemError> {
        self.inner.stat_direct(path).await
    }

    fn supports(&self, path: &WorkspacePath) -> EntrySupport {
        self.inner.supports(path)
    }

    fn host_path(&self, path: &WorkspacePath) -> Option<PathBuf> {
        self.inner.host_path(path)
    }
}
