use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use bytes::Bytes;
use everruns_core::file_system::{
    ContentVersion, DirectoryPage, EntryIdentity, EntrySupport, FileContent, FileMode, FileStat,
    FileSystemError, LastLink, LinkTarget, PageRequest, Permissions, Precondition, ReadRange,
    Removal, Replace, SearchQuery, SearchStream, SessionFileSystem,
};
use everruns_core::path::WorkspacePath;

/// When a fault strikes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// Before the operation: nothing of it has happened.
    Before,
    /// After it: all of it has happened, but the caller does not learn so.
    After,
}

/// Which operation fails, and how.
#[derive(Clone)]
pub struct Fault {
    /// The operation's number, counted from 1.
    pub operation: usize,
    /// Before or after it is done.
    pub moment: Moment,
    /// Makes the error.
    pub error: Arc<dyn Fn() -> FileSystemError + Send + Sync>,
}

/// Forwards every call but one, which fails.
#[derive(Debug)]
pub struct FaultyFileSystem {
    inner: Arc<dyn SessionFileSystem>,
    fault: Fault,
    operations: AtomicUsize,
}

impl FaultyFileSystem {
    /// Fails as `fault` says, and otherwise does as `inner`.
    pub fn new(inner: Arc<dyn SessionFileSystem>, fault: Fault) -> Self {
        Self {
            inner,
            fault,
            operations: AtomicUsize::new(0),
        }
    }

    /// Fails operation number `operation` with this error before it is done.
    pub fn failing(
        inner: Arc<dyn SessionFileSystem>,
        operation: usize,
        error: impl Fn() -> FileSystemError + Send + Sync + 'static,
    ) -> Self {
        let (moment, error) = (Moment::Before, Arc::new(error));
        Self::new(
            inner,
            Fault {
                operation,
                moment,
                error,
            },
        )
    }

    /// How many operations there were.
    pub fn operations(&self) -> usize {
        self.operations.load(Ordering::SeqCst)
    }

    async fn run<T>(
        &self,
        call: impl Future<Output = Result<T, FileSystemError>> + Send,
    ) -> Result<T, FileSystemError> {
        let number = self.operations.fetch_add(1, Ordering::SeqCst) + 1;
        if number != self.fault.operation {
            return call.await;
        }
        if self.fault.moment == Moment::After {
            drop(call.await?);
        }
        Err((self.fault.error)())
    }
}

#[async_trait]
impl SessionFileSystem for FaultyFileSystem {
    async fn read(
        &self,
        path: &WorkspacePath,
        range: ReadRange,
    ) -> Result<FileContent, FileSystemError> {
        self.run(self.inner.read(path, range)).await
    }

    async fn write(
        &self,
        path: &WorkspacePath,
        bytes: Bytes,
        precondition: Precondition,
    ) -> Result<ContentVersion, FileSystemError> {
        self.run(self.inner.write(path, bytes, precondition)).await
    }

    async fn write_with_mode(
        &self,
        path: &WorkspacePath,
        bytes: Bytes,
        mode: FileMode,
        precondition: Precondition,
    ) -> Result<ContentVersion, FileSystemError> {
        let write = self.inner.write_with_mode(path, bytes, mode, precondition);
        self.run(write).await
    }

    async fn create_link(
        &self,
        path: &WorkspacePath,
        target: &LinkTarget,
        replace: Replace,
    ) -> Result<(), FileSystemError> {
        self.run(self.inner.create_link(path, target, replace))
            .await
    }

    async fn read_link(&self, path: &WorkspacePath) -> Result<LinkTarget, FileSystemError> {
        self.run(self.inner.read_link(path)).await
    }

    async fn remove(
        &self,
        path: &WorkspacePath,
        removal: Removal,
        precondition: Precondition,
    ) -> Result<(), FileSystemError> {
        self.run(self.inner.remove(path, removal, precondition))
            .await
    }

    async fn rename(
        &self,
        from: &WorkspacePath,
        to: &WorkspacePath,
        replace: Replace,
    ) -> Result<(), FileSystemError> {
        self.run(self.inner.rename(from, to, replace)).await
    }

    async fn create_dir(&self, path: &WorkspacePath) -> Result<(), FileSystemError> {
        self.run(self.inner.create_dir(path)).await
    }

    async fn create_dir_within(
        &self,
        path: &WorkspacePath,
        permissions: Permissions,
    ) -> Result<(), FileSystemError> {
        self.run(self.inner.create_dir_within(path, permissions))
            .await
    }

    async fn stat(&self, path: &WorkspacePath) -> Result<FileStat, FileSystemError> {
        self.run(self.inner.stat(path)).await
    }

    async fn list(
        &self,
        dir: &WorkspacePath,
        page: PageRequest,
    ) -> Result<DirectoryPage, FileSystemError> {
        self.run(self.inner.list(dir, page)).await
    }

    async fn search(&self, query: SearchQuery) -> Result<SearchStream, FileSystemError> {
        self.run(self.inner.search(query)).await
    }

    async fn resolve(
        &self,
        path: &WorkspacePath,
        last: LastLink,
    ) -> Result<WorkspacePath, FileSystemError> {
        self.run(self.inner.resolve(path, last)).await
    }

    async fn identity(
        &self,
        path: &WorkspacePath,
        last: LastLink,
    ) -> Result<Option<EntryIdentity>, FileSystemError> {
        self.run(self.inner.identity(path, last)).await
    }

    fn supports(&self, path: &WorkspacePath) -> EntrySupport {
        self.inner.supports(path)
    }

    fn host_path(&self, path: &WorkspacePath) -> Option<PathBuf> {
        self.inner.host_path(path)
    }
}

impl fmt::Debug for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fault")
            .field("operation", &self.operation)
            .field("moment", &self.moment)
            .finish_non_exhaustive()
    }
}
