use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use everruns_core::file_system::{
    ContentVersion, DirectoryPage, EntryIdentity, EntrySupport, FileAccess, FileContent, FileKind,
    FileMode, FileStat, FileSystemError, LastLink, LinkTarget, PageRequest, Permissions,
    Precondition, ReadRange, Removal, Replace, SearchQuery, SearchStream, SessionFileSystem,
};
use everruns_core::path::WorkspacePath;

use super::WorkspacePolicy;
use crate::mounts::MountedFileSystem;

/// A file system that obeys a [`WorkspacePolicy`].
///
/// Every operation is judged on the path that was asked for and on the one it resolves to, so a link inside
/// the tree, or another spelling on a disk that ignores case, gives no access to what is denied. Listings and
/// searches never show what a read would refuse, and their pages are as full as without a policy.
///
/// A file without a link on its way is judged and read in one step. Every other path is resolved just before it is
/// used. A process that may change links in the tree at the same moment,
/// which only a compute can give it, can read through this gap whatever it could have read itself: confine
/// processes with the compute, not with a policy.
#[derive(Clone, Debug)]
pub struct PolicyFileSystem {
    pub(super) inner: Arc<dyn SessionFileSystem>,
    pub(super) policy: WorkspacePolicy,
    /// What says which roots can only be read; the policy is over it.
    pub(super) mounts: Option<Arc<MountedFileSystem>>,
}

impl PolicyFileSystem {
    /// Puts `policy` over `inner`.
    pub fn new(inner: Arc<dyn SessionFileSystem>, policy: WorkspacePolicy) -> Self {
        Self {
            inner,
            policy,
            mounts: None,
        }
    }

    /// Puts `policy` over `mounts`. Where one mounted folder lies in another, what is denied or protected by one of its
    /// names is so by the other: see [`WorkspacePolicy::with_other_names`].
    pub fn over_mounts(mounts: Arc<MountedFileSystem>, policy: &WorkspacePolicy) -> Self {
        let policy = policy.with_other_names(mounts.overlaps());
        Self {
            mounts: Some(Arc::clone(&mounts)),
            ..Self::new(mounts, policy)
        }
    }

    /// The policy.
    pub fn policy(&self) -> &WorkspacePolicy {
        &self.policy
    }

    /// Judges `path`, then what it resolves to. The result is the resolved path; `None` when a link that
    /// would be followed leads nowhere, which the operation itself then reports.
    pub(super) async fn judged(
        &self,
        path: &WorkspacePath,
        last: LastLink,
        wanted: Wanted,
    ) -> Result<Option<WorkspacePath>, FileSystemError> {
        wanted.check(&self.policy, path)?;
        let resolved = match self.inner.resolve(path, last).await {
            Ok(resolved) => resolved,
            Err(FileSystemError::NotFound { .. }) => return Ok(None),
            Err(error) => return Err(error),
        };
        if &resolved != path {
            let as_asked = |_: WorkspacePath| path.clone();
            wanted
                .check(&self.policy, &resolved)
                .map_err(|refused| refused.map_paths(&as_asked))?;
        }
        Ok(Some(resolved))
    }

    async fn kind(&self, path: &WorkspacePath) -> Result<Option<FileKind>, FileSystemError> {
        match self.inner.stat(path).await {
            Ok(stat) => Ok(Some(stat.kind)),
            Err(FileSystemError::NotFound { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// What an operation wants of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    Read,
    Write,
    List,
}

impl Wanted {
    fn check(self, policy: &WorkspacePolicy, path: &WorkspacePath) -> Result<(), FileSystemError> {
        match self {
            Self::Read => policy.check_read(path),
            Self::Write => policy.check_write(path),
            Self::List => policy.check_list(path),
        }
    }
}

#[async_trait]
impl SessionFileSystem for PolicyFileSystem {
    async fn read(
        &self,
        path: &WorkspacePath,
        range: ReadRange,
    ) -> Result<FileContent, FileSystemError> {
        // Without a link on the way, what is judged is what is read.
        if let Some(content) = self.read_direct(path, range).await? {
            return Ok(content);
        }
        self.judged(path, LastLink::Follow, Wanted::Read).await?;
        self.inner.read(path, range).await
    }

    async fn read_direct(
        &self,
        path: &WorkspacePath,
        range: ReadRange,
    ) -> Result<Option<FileContent>, FileSystemError> {
        self.policy.check_read(path)?;
        self.inner.read_direct(path, range).await
    }

    async fn write(
        &self,
        path: &WorkspacePath,
        bytes: Bytes,
        precondition: Precondition,
    ) -> Result<ContentVersion, FileSystemError> {
        self.judged(path, LastLink::Follow, Wanted::Write).await?;
        self.inner.write(path, bytes, precondition).await
    }

    async fn write_with_mode(
        &self,
        path: &WorkspacePath,
        bytes: Bytes,
        mode: FileMode,
        precondition: Precondition,
    ) -> Result<ContentVersion, FileSystemError> {
        self.judged(path, LastLink::Follow, Wanted::Write).await?;
        let write = self.inner.write_with_mode(path, bytes, mode, precondition);
        write.await
    }

    async fn create_link(
        &self,
        path: &WorkspacePath,
        target: &LinkTarget,
        replace: Replace,
    ) -> Result<(), FileSystemError> {
        let resolved = self.judged(path, LastLink::Keep, Wanted::Write).await?;
        self.check_target(path, resolved.as_ref().unwrap_or(path), target)
            .await?;
        self.inner.create_link(path, target, replace).await
    }

    async fn read_link(&self, path: &WorkspacePath) -> Result<LinkTarget, FileSystemError> {
        let resolved = self.judged(path, LastLink::Keep, Wanted::Read).await?;
        let target = self.inner.read_link(path).await?;
        self.check_target(path, resolved.as_ref().unwrap_or(path), &target)
            .await?;
        Ok(target)
    }

    async fn remove(
        &self,
        path: &WorkspacePath,
        removal: Removal,
        precondition: Precondition,
    ) -> Result<(), FileSystemError> {
        self.judged(path, LastLink::Keep, Wanted::Write).await?;
        if removal == Removal::Recursive && self.kind(path).await? == Some(FileKind::Directory) {
            if !self.policy.permits_recursive_delete() {
                return Err(FileSystemError::Denied {
                    path: path.clone(),
                    access: FileAccess::Write,
                    rule: "removing a folder with all below it is not allowed (allow_recursive_delete): \
                           remove what is in it first"
                        .to_owned(),
                });
            }
            self.check_below(path, None).await?;
        }
        self.inner.remove(path, removal, precondition).await
    }

    async fn rename(
        &self,
        from: &WorkspacePath,
        to: &WorkspacePath,
        replace: Replace,
    ) -> Result<(), FileSystemError> {
        self.judged(from, LastLink::Keep, Wanted::Write).await?;
        let resolved = self.judged(to, LastLink::Keep, Wanted::Write).await?;
        let really = resolved.as_ref().unwrap_or(to);
        match self.kind(from).await? {
            Some(FileKind::Directory) => self.check_below(from, Some((to, really))).await?,
            Some(FileKind::Symlink) => self.check_moved_link(from, to, really).await?,
            _ => {}
        }
        self.inner.rename(from, to, replace).await
    }

    async fn create_dir(&self, path: &WorkspacePath) -> Result<(), FileSystemError> {
        self.judged(path, LastLink::Follow, Wanted::Write).await?;
        self.inner.create_dir(path).await
    }

    async fn create_dir_within(
        &self,
        path: &WorkspacePath,
        permissions: Permissions,
    ) -> Result<(), FileSystemError> {
        self.judged(path, LastLink::Follow, Wanted::Write).await?;
        self.inner.create_dir_within(path, permissions).await
    }

    async fn stat(&self, path: &WorkspacePath) -> Result<FileStat, FileSystemError> {
        if let Some(stat) = self.stat_direct(path).await? {
            return Ok(stat);
        }
        let resolved = self.judged(path, LastLink::Keep, Wanted::List).await?;
        let stat = self.inner.stat(path).await?;
        if stat.kind != FileKind::Directory {
            // What may only be listed as a folder may be nothing else.
            self.policy.check_read(path)?;
            self.policy.check_read(resolved.as_ref().unwrap_or(path))?;
        }
        Ok(stat)
    }

    async fn list(
        &self,
        dir: &WorkspacePath,
        page: PageRequest,
    ) -> Result<DirectoryPage, FileSystemError> {
        let resolved = self.judged(dir, LastLink::Follow, Wanted::List).await?;
        self.list_permitted(dir, resolved.as_ref().unwrap_or(dir), page)
            .await
    }

    async fn search(&self, query: SearchQuery) -> Result<SearchStream, FileSystemError> {
        let resolved = self
            .judged(&query.folder, LastLink::Follow, Wanted::List)
            .await?;
        self.search_permitted(query, resolved).await
    }

    async fn resolve(
        &self,
        path: &WorkspacePath,
        last: LastLink,
    ) -> Result<WorkspacePath, FileSystemError> {
        match self.judged(path, last, Wanted::List).await? {
            Some(resolved) => Ok(resolved),
            None => Err(FileSystemError::NotFound { path: path.clone() }),
        }
    }

    async fn identity(
        &self,
        path: &WorkspacePath,
        last: LastLink,
    ) -> Result<Option<EntryIdentity>, FileSystemError> {
        self.judged(path, last, Wanted::List).await?;
        self.inner.identity(path, last).await
    }

    async fn stat_direct(&self, path: &WorkspacePath) -> Result<Option<FileStat>, FileSystemError> {
        let may_read = self.policy.permits_read(path);
        if !may_read {
            self.policy.check_list(path)?;
        }
        let stat = self.inner.stat_direct(path).await?;
        let is_folder = |stat: &FileStat| stat.kind == FileKind::Directory;
        if !may_read && !stat.as_ref().is_none_or(is_folder) {
            self.policy.check_read(path)?;
        }
        Ok(stat)
    }

    fn supports(&self, path: &WorkspacePath) -> EntrySupport {
        self.inner.supports(path)
    }

    fn host_path(&self, path: &WorkspacePath) -> Option<PathBuf> {
        self.policy
            .permits_list(path)
            .then(|| self.inner.host_path(path))
            .flatten()
    }
}
