use std::io;
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

/// Stands for a disk that makes every change and confirms none: each ends with
/// [`NotFlushed`](FileSystemError::NotFlushed).
#[derive(Debug)]
pub struct UnflushedFileSystem {
    inner: Arc<dyn SessionFileSystem>,
}

impl UnflushedFileSystem {
    /// Changes `inner`, and reads it.
    pub fn new(inner: Arc<dyn SessionFileSystem>) -> Self {
        Self { inner }
    }
}

fn not_flushed(path: &WorkspacePath) -> FileSystemError {
    FileSystemError::NotFlushed {
        path: path.clone(),
        source: io::Error::other("the disk confirms nothing"),
    }
}

#[async_trait]
impl SessionFileSystem for UnflushedFileSystem {
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
        self.inner.write(path, bytes, precondition).await?;
        Err(not_flushed(path))
    }

    async fn write_with_mode(
        &self,
        path: &WorkspacePath,
        bytes: Bytes,
        mode: FileMode,
        precondition: Precondition,
    ) -> Result<ContentVersion, FileSystemError> {
        let write = self.inner.write_with_mode(path, bytes, mode, precondition);
        write.await?;
        Err(not_flushed(path))
    }

    async fn create_link(
        &self,
        path: &WorkspacePath,
        target: &LinkTarget,
        replace: Replace,
    ) -> Result<(), FileSystemError> {
        self.inner.create_link(path, target, replace).await?;
        Err(not_flushed(path))
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
        self.inner.remove(path, removal, precondition).await?;
        Err(not_flushed(path))
    }

    async fn rename(
        &self,
        from: &WorkspacePath,
        to: &WorkspacePath,
        replace: Replace,
    ) -> Result<(), FileSystemError> {
        self.inner.rename(from, to, replace).await?;
        Err(not_flushed(to))
    }

    async fn create_dir(&self, path: &WorkspacePath) -> Result<(), FileSystemError> {
        self.inner.create_dir(path).await?;
        Err(not_flushed(path))
    }

    async fn create_dir_within(
        &self,
        path: &WorkspacePath,
        permissions: Permissions,
    ) -> Result<(), FileSystemError> {
        self.inner.create_dir_within(path, permissions).await?;
        Err(not_flushed(path))
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

    fn supports(&self, path: &WorkspacePath) -> EntrySupport {
        self.inner.supports(path)
    }

    fn host_path(&self, path: &WorkspacePath) -> Option<PathBuf> {
        self.inner.host_path(path)
    }
}
