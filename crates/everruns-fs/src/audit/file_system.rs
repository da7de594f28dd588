use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use everruns_core::file_system::{
    ContentVersion, DirectoryPage, EntryIdentity, EntrySupport, FileContent, FileKind, FileMode,
    FileStat, FileSystemError, LastLink, LinkTarget, PageRequest, Permissions, Precondition,
    ReadRange, Removal, Replace, SearchQuery, SearchStream, SessionFileSystem,
    SessionFileSystemExt as _,
};
use everruns_core::path::WorkspacePath;

use super::pending::Pending;
use super::{AuditOperation, AuditSink};

/// A file system that tells an [`AuditSink`] of every change: made, failed, refused or abandoned.
///
/// Put it outermost to see what was asked for, refusals of a policy included; put it inside the policy to see
/// only what reached the files. Reads are not recorded.
///
/// The version before a change costs one read of the file, unless the precondition tells it.
#[derive(Clone)]
pub struct AuditFileSystem {
    inner: Arc<dyn SessionFileSystem>,
    sink: Arc<dyn AuditSink>,
}

impl AuditFileSystem {
    /// Records the changes made through it to `inner`.
    pub fn new(inner: Arc<dyn SessionFileSystem>, sink: Arc<dyn AuditSink>) -> Self {
        Self { inner, sink }
    }

    fn begin<'a>(&'a self, path: &'a WorkspacePath, operation: AuditOperation<'a>) -> Pending<'a> {
        Pending::new(self.sink.as_ref(), path, operation)
    }

    /// The version that a change under `precondition` finds.
    async fn before(
        &self,
        path: &WorkspacePath,
        precondition: Precondition,
    ) -> Option<ContentVersion> {
        match precondition {
            Precondition::Matches(version) => Some(version),
            Precondition::Absent => None,
            // Whatever stands in the way of looking stands in the way of the change, or is no file.
            Precondition::Any => self.inner.version(path).await.unwrap_or_default(),
        }
    }

    /// The version of the entry itself: a link has none.
    async fn entry(&self, path: &WorkspacePath) -> Option<ContentVersion> {
        match self.inner.stat(path).await {
            Ok(stat) if stat.kind == FileKind::File => {
                self.inner.version(path).await.unwrap_or_default()
            }
            _ => None,
        }
    }
}

#[async_trait]
impl SessionFileSystem for AuditFileSystem {
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
        let length = bytes.len() as u64;
        let operation = AuditOperation::Write {
            bytes: length,
            mode,
        };
        let mut change = self.begin(path, operation);
        change.was(self.before(path, precondition).await);
        let write = self.inner.write_with_mode(path, bytes, mode, precondition);
        let result = write.await;
        change.settle(&result, |version| Some(*version));
        result
    }

    async fn create_link(
        &self,
        path: &WorkspacePath,
        target: &LinkTarget,
        replace: Replace,
    ) -> Result<(), FileSystemError> {
        let mut change = self.begin(path, AuditOperation::CreateLink { target, replace });
        change.was(match replace {
            Replace::File => self.entry(path).await,
            _ => self.before(path, replace.precondition()).await,
        });
        let result = self.inner.create_link(path, target, replace).await;
        change.settle(&result, |()| None);
        result
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
        let mut change = self.begin(path, AuditOperation::Remove { removal });
        change.was(match precondition {
            Precondition::Any => self.entry(path).await,
            _ => self.before(path, precondition).await,
        });
        let result = self.inner.remove(path, removal, precondition).await;
        change.settle(&result, |()| None);
        result
    }

    async fn rename(
        &self,
        from: &WorkspacePath,
        to: &WorkspacePath,
        replace: Replace,
    ) -> Result<(), FileSystemError> {
        let mut change = self.begin(from, AuditOperation::Rename { to, replace });
        let before = self.entry(from).await;
        change.was(before);
        let result = self.inner.rename(from, to, replace).await;
        // A move keeps the bytes.
        change.settle(&result, |()| before);
        result
    }

    async fn create_dir(&self, path: &WorkspacePath) -> Result<(), FileSystemError> {
        let change = self.begin(path, AuditOperation::CreateDir);
        let result = self.inner.create_dir(path).await;
        change.settle(&result, |()| None);
        result
    }

    async fn create_dir_within(
        &self,
        path: &WorkspacePath,
        permissions: Permissions,
    ) -> Result<(), FileSystemError> {
        let change = self.begin(path, AuditOperation::CreateDir);
        let result = self.inner.create_dir_within(path, permissions).await;
        change.settle(&result, |()| None);
        result
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

impl fmt::Debug for AuditFileSystem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AuditFileSystem")
            .field("inner", &self.inner)
            .finish_non_exhaustive()
    }
}
