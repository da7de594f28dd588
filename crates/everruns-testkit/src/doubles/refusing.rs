use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use bytes::Bytes;
use everruns_core::file_system::{
    ContentVersion, DirectoryPage, EntryIdentity, EntrySupport, FileAccess, FileContent, FileMode,
    FileStat, FileSystemError, LastLink, LinkTarget, PageRequest, Precondition, ReadRange, Removal,
    Replace, SearchQuery, SearchStream, SessionFileSystem,
};
use everruns_core::path::WorkspacePath;

/// Denies everything and counts what was asked, to prove that a denial is passed on and that nothing goes
/// round a wrapper.
#[derive(Debug, Default)]
pub struct RefusingFileSystem {
    calls: AtomicUsize,
}

impl RefusingFileSystem {
    /// A file system that refuses every call.
    pub fn new() -> Self {
        Self::default()
    }

    /// How many calls there were.
    pub fn calls(&self) -> usize {
        self.calls.load(Ordering::SeqCst)
    }

    fn refuse<T>(&self, path: &WorkspacePath, access: FileAccess) -> Result<T, FileSystemError> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        Err(FileSystemError::Denied {
            path: path.clone(),
            access,
            rule: "this file system refuses everything".to_owned(),
        })
    }
}

#[async_trait]
impl SessionFileSystem for RefusingFileSystem {
    async fn read(
        &self,
        path: &WorkspacePath,
        _: ReadRange,
    ) -> Result<FileContent, FileSystemError> {
        self.refuse(path, FileAccess::Read)
    }

    async fn write(
        &self,
        path: &WorkspacePath,
        _: Bytes,
        _: Precondition,
    ) -> Result<ContentVersion, FileSystemError> {
        self.refuse(path, FileAccess::Write)
    }

    async fn write_with_mode(
        &self,
        path: &WorkspacePath,
        _: Bytes,
        _: FileMode,
        _: Precondition,
    ) -> Result<ContentVersion, FileSystemError> {
        self.refuse(path, FileAccess::Write)
    }

    async fn create_link(
        &self,
        path: &WorkspacePath,
        _: &LinkTarget,
        _: Replace,
    ) -> Result<(), FileSystemError> {
        self.refuse(path, FileAccess::Write)
    }

    async fn read_link(&self, path: &WorkspacePath) -> Result<LinkTarget, FileSystemError> {
        self.refuse(path, FileAccess::Read)
    }

    async fn remove(
        &self,
        path: &WorkspacePath,
        _: Removal,
        _: Precondition,
    ) -> Result<(), FileSystemError> {
        self.refuse(path, FileAccess::Write)
    }

    async fn rename(
        &self,
        from: &WorkspacePath,
        _: &WorkspacePath,
        _: Replace,
    ) -> Result<(), FileSystemError> {
        self.refuse(from, FileAccess::Write)
    }

    async fn create_dir(&self, path: &WorkspacePath) -> Result<(), FileSystemError> {
        self.refuse(path, FileAccess::Write)
    }

    async fn stat(&self, path: &WorkspacePath) -> Result<FileStat, FileSystemError> {
        self.refuse(path, FileAccess::Read)
    }

    async fn list(
        &self,
        dir: &WorkspacePath,
        _: PageRequest,
    ) -> Result<DirectoryPage, FileSystemError> {
        self.refuse(dir, FileAccess::Read)
    }

    async fn search(&self, query: SearchQuery) -> Result<SearchStream, FileSystemError> {
        self.refuse(&query.folder, FileAccess::Read)
    }

    async fn resolve(
        &self,
        path: &WorkspacePath,
        _: LastLink,
    ) -> Result<WorkspacePath, FileSystemError> {
        self.refuse(path, FileAccess::Read)
    }

    async fn identity(
        &self,
        path: &WorkspacePath,
        last: LastLink,
    ) -> Result<Option<EntryIdentity>, FileSystemError> {
        let _ = last;
        self.refuse(path, FileAccess::Read)
    }

    /// It would hold all, if it did not refuse it.
    fn supports(&self, _: &WorkspacePath) -> EntrySupport {
        EntrySupport::ALL
    }

    fn host_path(&self, _: &WorkspacePath) -> Option<PathBuf> {
        None
    }
}

#[cfg(test)]
mod tests {
    use everruns_core::file_system::SessionFileSystemExt as _;

    use super::*;

    #[tokio::test]
    async fn every_call_is_refused_and_counted() {
        let refusing = RefusingFileSystem::new();
        assert!(matches!(
            refusing.read_all("a").await,
            Err(FileSystemError::Denied { .. })
        ));
        assert!(matches!(
            refusing.write_all("a", "x").await,
            Err(FileSystemError::Denied { .. })
        ));
        assert_eq!(refusing.calls(), 2);
    }
}
