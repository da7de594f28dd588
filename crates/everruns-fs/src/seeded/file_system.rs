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

use super::seeds::{Seeds, folder_stat};
use super::{SeedError, SeededFile};
use crate::mounts::MountedFileSystem;
use crate::swap_folder::swap_folder;

/// A file system with an application's own files in it.
///
/// [`plant`](Self::plant) writes each seed once. A read-only seed is always served with its own bytes and
/// version, whatever the file system below holds, shows up in listings and searches, and refuses every change
/// by any route ([`ReadOnly`](FileSystemError::ReadOnly)): writing, removing or moving it, a folder above it, or a
/// link to it.
///
/// Read-only seeds lie above whatever is below this layer, a policy included: they are the application's word.
/// As a process would find other bytes in their place, they have no host path.
#[derive(Clone, Debug)]
pub struct SeededFileSystem {
    pub(super) inner: Arc<dyn SessionFileSystem>,
    pub(super) seeds: Arc<Seeds>,
    /// Pairs of folders that are one.
    same: Arc<[(WorkspacePath, WorkspacePath)]>,
}

impl SeededFileSystem {
    /// Puts `seeds` over `inner`. Nothing is written before [`plant`](Self::plant).
    ///
    /// # Errors
    /// [`SeedError`] when the seeds cannot all be files of one tree.
    pub fn new(
        inner: Arc<dyn SessionFileSystem>,
        seeds: Vec<SeededFile>,
    ) -> Result<Self, SeedError> {
        Ok(Self {
            inner,
            seeds: Arc::new(Seeds::new(seeds)?),
            same: Arc::new([]),
        })
    }

    /// Refuses a change of a read-only seed by its other name, too, where one tree of `mounts` lies in another. What is
    /// read by that name are the bytes below.
    #[must_use]
    pub fn over_mounts(mut self, mounts: &MountedFileSystem) -> Self {
        self.same = mounts.overlaps().into();
        self
    }

    /// `path` by the names that it has in other mounts.
    fn other_names<'a>(
        &'a self,
        path: &'a WorkspacePath,
    ) -> impl Iterator<Item = WorkspacePath> + use<'a> {
        self.same.iter().flat_map(|(one, other)| {
            [swap_folder(path, one, other), swap_folder(path, other, one)]
                .into_iter()
                .flatten()
        })
    }

    /// Where an operation on `path` really ends, as far as seeds may be concerned.
    ///
    /// A seed's own path is never a link, whatever lies below. What cannot be resolved is left to the operation.
    pub(super) async fn really(&self, path: &WorkspacePath, last: LastLink) -> WorkspacePath {
        if self.seeds.lock_nothing() || self.seeds.above(path).is_some() {
            return path.clone();
        }
        match self.inner.resolve(path, last).await {
            Ok(resolved) => resolved,
            Err(_) => path.clone(),
        }
    }

    /// Refuses a change of a seed, and of anything that would need a seed to be a folder.
    fn refuse_change(
        &self,
        path: &WorkspacePath,
        really: &WorkspacePath,
    ) -> Result<(), FileSystemError> {
        match self.seeds.above(really) {
            None if self
                .other_names(really)
                .any(|name| self.seeds.above(&name).is_some()) =>
            {
                Err(FileSystemError::ReadOnly { path: path.clone() })
            }
            None => Ok(()),
            Some(seed) if &seed.path == really => {
                Err(FileSystemError::ReadOnly { path: path.clone() })
            }
            Some(seed) => Err(FileSystemError::NotADirectory {
                path: seed.path.clone(),
            }),
        }
    }

    /// As [`refuse_change`](Self::refuse_change), for what takes all below `path` with it.
    fn refuse_taking(
        &self,
        path: &WorkspacePath,
        really: &WorkspacePath,
    ) -> Result<(), FileSystemError> {
        let is_over_a_seed = |at: &WorkspacePath| !self.seeds.below(at).is_empty();
        if !is_over_a_seed(really) && !self.other_names(really).any(|name| is_over_a_seed(&name)) {
            self.refuse_change(path, really)
        } else {
            Err(FileSystemError::ReadOnly { path: path.clone() })
        }
    }
}

#[async_trait]
impl SessionFileSystem for SeededFileSystem {
    async fn read(
        &self,
        path: &WorkspacePath,
        range: ReadRange,
    ) -> Result<FileContent, FileSystemError> {
        if let Some(content) = self.read_direct(path, range).await? {
            return Ok(content);
        }
        let really = self.really(path, LastLink::Follow).await;
        match self.seeds.above(&really) {
            None => self.inner.read(path, range).await,
            Some(seed) if seed.path == really => Ok(FileContent::with_version(
                &seed.content,
                range,
                seed.version,
            )),
            Some(_) => Err(FileSystemError::NotFound { path: path.clone() }),
        }
    }

    async fn write(
        &self,
        path: &WorkspacePath,
        bytes: Bytes,
        precondition: Precondition,
    ) -> Result<ContentVersion, FileSystemError> {
        let really = self.really(path, LastLink::Follow).await;
        self.refuse_taking(path, &really)?;
        self.inner.write(path, bytes, precondition).await
    }

    async fn write_with_mode(
        &self,
        path: &WorkspacePath,
        bytes: Bytes,
        mode: FileMode,
        precondition: Precondition,
    ) -> Result<ContentVersion, FileSystemError> {
        let really = self.really(path, LastLink::Follow).await;
        self.refuse_taking(path, &really)?;
        let write = self.inner.write_with_mode(path, bytes, mode, precondition);
        write.await
    }

    async fn create_link(
        &self,
        path: &WorkspacePath,
        target: &LinkTarget,
        replace: Replace,
    ) -> Result<(), FileSystemError> {
        self.refuse_taking(path, &self.really(path, LastLink::Keep).await)?;
        self.inner.create_link(path, target, replace).await
    }

    async fn read_link(&self, path: &WorkspacePath) -> Result<LinkTarget, FileSystemError> {
        let really = self.really(path, LastLink::Keep).await;
        match self.seeds.above(&really) {
            None => self.inner.read_link(path).await,
            // Whatever link may lie below is not what is shown.
            Some(seed) if seed.path == really => Err(FileSystemError::InvalidOperation {
                path: path.clone(),
                reason: "it is no symbolic link",
            }),
            Some(_) => Err(FileSystemError::NotFound { path: path.clone() }),
        }
    }

    async fn remove(
        &self,
        path: &WorkspacePath,
        removal: Removal,
        precondition: Precondition,
    ) -> Result<(), FileSystemError> {
        let really = self.really(path, LastLink::Keep).await;
        self.refuse_taking(path, &really)?;
        self.inner.remove(path, removal, precondition).await
    }

    async fn rename(
        &self,
        from: &WorkspacePath,
        to: &WorkspacePath,
        replace: Replace,
    ) -> Result<(), FileSystemError> {
        self.refuse_taking(from, &self.really(from, LastLink::Keep).await)?;
        self.refuse_taking(to, &self.really(to, LastLink::Keep).await)?;
        self.inner.rename(from, to, replace).await
    }

    async fn create_dir(&self, path: &WorkspacePath) -> Result<(), FileSystemError> {
        let really = self.really(path, LastLink::Follow).await;
        match self.seeds.above(&really) {
            None => self.inner.create_dir(path).await,
            Some(seed) => Err(FileSystemError::NotADirectory {
                path: seed.path.clone(),
            }),
        }
    }

    async fn create_dir_within(
        &self,
        path: &WorkspacePath,
        permissions: Permissions,
    ) -> Result<(), FileSystemError> {
        let really = self.really(path, LastLink::Follow).await;
        match self.seeds.above(&really) {
            None => self.inner.create_dir_within(path, permissions).await,
            Some(seed) => Err(FileSystemError::NotADirectory {
                path: seed.path.clone(),
            }),
        }
    }

    async fn stat(&self, path: &WorkspacePath) -> Result<FileStat, FileSystemError> {
        if let Some(stat) = self.stat_direct(path).await? {
            return Ok(stat);
        }
        let really = self.really(path, LastLink::Keep).await;
        match self.seeds.above(&really) {
            Some(seed) if seed.path == really => return Ok(seed.stat()),
            Some(_) => return Err(FileSystemError::NotFound { path: path.clone() }),
            None => {}
        }
        match self.inner.stat(path).await {
            Err(FileSystemError::NotFound { .. }) if !self.seeds.below(&really).is_empty() => {
                Ok(folder_stat())
            }
            other => other,
        }
    }

    async fn list(
        &self,
        dir: &WorkspacePath,
        page: PageRequest,
    ) -> Result<DirectoryPage, FileSystemError> {
        let really = self.really(dir, LastLink::Follow).await;
        if self.seeds.above(&really).is_some() {
            return Err(FileSystemError::NotADirectory { path: dir.clone() });
        }
        if self.seeds.below(&really).is_empty() {
            return self.inner.list(dir, page).await;
        }
        self.list_with_seeds(dir, &really, page).await
    }

    async fn search(&self, query: SearchQuery) -> Result<SearchStream, FileSystemError> {
        let really = self.really(&query.folder, LastLink::Follow).await;
        if self.seeds.above(&really).is_some() {
            return Err(FileSystemError::NotADirectory { path: query.folder });
        }
        if self.seeds.below(&really).is_empty() {
            return self.inner.search(query).await;
        }
        self.search_with_seeds(query, really).await
    }

    async fn resolve(
        &self,
        path: &WorkspacePath,
        last: LastLink,
    ) -> Result<WorkspacePath, FileSystemError> {
        if self.seeds.above(path).is_some() {
            return Ok(path.clone());
        }
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
        match self.seeds.above(path) {
            None => self.inner.read_direct(path, range).await,
            Some(seed) if seed.path == *path => Ok(Some(FileContent::with_version(
                &seed.content,
                range,
                seed.version,
            ))),
            Some(_) => Ok(None),
        }
    }

    async fn stat_direct(&self, path: &WorkspacePath) -> Result<Option<FileStat>, FileSystemError> {
        match self.seeds.above(path) {
            // A folder that is there only because of the seeds is not found below.
            None if self.seeds.below(path).is_empty() => self.inner.stat_direct(path).await,
            Some(seed) if seed.path == *path => Ok(Some(seed.stat())),
            None | Some(_) => Ok(None),
        }
    }

    fn supports(&self, path: &WorkspacePath) -> EntrySupport {
        self.inner.supports(path)
    }

    fn host_path(&self, path: &WorkspacePath) -> Option<PathBuf> {
        match self.seeds.above(path) {
            Some(_) => None,
            None => self.inner.host_path(path),
        }
    }
}
