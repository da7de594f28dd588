use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use everruns_core::file_system::{
    ContentVersion, DirectoryPage, EntryIdentity, EntrySupport, FileContent, FileKind, FileMode,
    FileStat, FileSystemError, LastLink, LinkTarget, PageRequest, Permissions, Precondition,
    ReadRange, Removal, Replace, SearchQuery, SearchStream, SessionFileSystem,
};
use everruns_core::path::{Mount, WorkspacePath};
use tokio::task::coop::consume_budget;

use super::blocking::blocking;
use super::call::Call;
use super::kind::{file_stat, kind};
use super::options::{DiskOptions, Resolution};
use super::search::DiskSource;
use super::tree::Tree;
use crate::search::{CompiledSearch, stream};

/// A folder on disk, contained. Clones share it.
///
/// Every call proves first that the folder's path still leads to the folder that was opened
/// ([`StaleRoot`](FileSystemError::StaleRoot)); for reads and looks, which are contained in any case, a proof of at most
/// a millisecond ago will do. What a call does is in the [module](super)'s documentation.
/// A change whose future is dropped takes place whole or not at all, and never after a later change of the same
/// path.
#[derive(Clone, Debug)]
pub struct DiskFileSystem {
    tree: Arc<Tree>,
}

impl DiskFileSystem {
    /// Opens the folder at `root`, which must exist, and removes what writers that were killed left behind.
    ///
    /// Blocks.
    ///
    /// # Errors
    /// `Io` when the folder or the lock folder cannot be opened; `InvalidOperation` when
    /// [`Resolution::Kernel`] is asked for and the kernel has no `openat2`, or when the lock folder lies in the
    /// tree.
    pub fn open(root: impl AsRef<Path>, options: DiskOptions) -> Result<Self, FileSystemError> {
        let tree = Tree::open(root.as_ref(), options)?;
        Ok(Self {
            tree: Arc::new(tree),
        })
    }

    /// The folder's path, as given and made absolute.
    pub fn root(&self) -> &Path {
        self.tree.root.path()
    }

    /// How paths are resolved: never [`Resolution::Auto`].
    pub fn resolution(&self) -> Resolution {
        if self.tree.by_kernel() {
            Resolution::Kernel
        } else {
            Resolution::Walk
        }
    }

    async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Tree) -> Result<T, FileSystemError> + Send + 'static,
    ) -> Result<T, FileSystemError> {
        let tree = Arc::clone(&self.tree);
        blocking(move || work(&tree)).await
    }

    /// Like [`run`](Self::run), for work that asks whether it is still wanted.
    async fn change<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Tree, &Call) -> Result<T, FileSystemError> + Send + 'static,
    ) -> Result<T, FileSystemError> {
        let call = Call::default();
        let _caller = call.caller();
        self.run(move |tree| work(tree, &call)).await
    }
}

#[async_trait]
impl SessionFileSystem for DiskFileSystem {
    async fn read(
        &self,
        path: &WorkspacePath,
        range: ReadRange,
    ) -> Result<FileContent, FileSystemError> {
        self.tree.enter_to_look(path)?;
        if let Some(content) = self.tree.read_cached(path, range) {
            consume_budget().await;
            return Ok(content);
        }
        let path = path.clone();
        self.run(move |tree| tree.read(&path, range)).await
    }

    async fn read_direct(
        &self,
        path: &WorkspacePath,
        range: ReadRange,
    ) -> Result<Option<FileContent>, FileSystemError> {
        self.tree.enter_to_look(path)?;
        // The caller judges by the name that is stored.
        if self.tree.folds() {
            return Ok(None);
        }
        if let Some(content) = self.tree.read_cached(path, range) {
            consume_budget().await;
            return Ok(Some(content));
        }
        if !self.tree.by_kernel() {
            return Ok(None);
        }
        let path = path.clone();
        self.run(move |tree| tree.read_direct(&path, range)).await
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
        let path = path.clone();
        self.change(move |tree, call| tree.write(&path, &bytes, mode, precondition, call))
            .await
    }

    async fn create_link(
        &self,
        path: &WorkspacePath,
        target: &LinkTarget,
        replace: Replace,
    ) -> Result<(), FileSystemError> {
        let (path, target) = (path.clone(), target.clone());
        self.change(move |tree, call| tree.create_link(&path, &target, replace, call))
            .await
    }

    async fn read_link(&self, path: &WorkspacePath) -> Result<LinkTarget, FileSystemError> {
        let path = path.clone();
        self.run(move |tree| tree.read_link(&path)).await
    }

    async fn remove(
        &self,
        path: &WorkspacePath,
        removal: Removal,
        precondition: Precondition,
    ) -> Result<(), FileSystemError> {
        let path = path.clone();
        self.change(move |tree, call| tree.remove(&path, removal, precondition, call))
            .await
    }

    async fn rename(
        &self,
        from: &WorkspacePath,
        to: &WorkspacePath,
        replace: Replace,
    ) -> Result<(), FileSystemError> {
        let (from, to) = (from.clone(), to.clone());
        self.change(move |tree, call| tree.rename(&from, &to, replace, call))
            .await
    }

    async fn create_dir(&self, path: &WorkspacePath) -> Result<(), FileSystemError> {
        let path = path.clone();
        self.run(move |tree| tree.create_dir(&path, None)).await
    }

    async fn create_dir_within(
        &self,
        path: &WorkspacePath,
        permissions: Permissions,
    ) -> Result<(), FileSystemError> {
        let path = path.clone();
        self.run(move |tree| tree.create_dir(&path, Some(permissions)))
            .await
    }

    async fn stat(&self, path: &WorkspacePath) -> Result<FileStat, FileSystemError> {
        self.tree.enter_to_look(path)?;
        if let Some(stat) = self.tree.stat_cached(path) {
            consume_budget().await;
            return Ok(file_stat(&stat));
        }
        let path = path.clone();
        self.run(move |tree| tree.stat(&path)).await
    }

    async fn stat_direct(&self, path: &WorkspacePath) -> Result<Option<FileStat>, FileSystemError> {
        self.tree.enter_to_look(path)?;
        // The caller judges by the name that is stored.
        if self.tree.folds() {
            return Ok(None);
        }
        if let Some(stat) = self.tree.stat_cached(path) {
            consume_budget().await;
            return Ok(Some(file_stat(&stat)));
        }
        if !self.tree.by_kernel() {
            return Ok(None);
        }
        let path = path.clone();
        self.run(move |tree| tree.stat_direct(&path)).await
    }

    async fn list(
        &self,
        dir: &WorkspacePath,
        page: PageRequest,
    ) -> Result<DirectoryPage, FileSystemError> {
        let dir = dir.clone();
        self.run(move |tree| tree.list(&dir, &page)).await
    }

    async fn search(&self, query: SearchQuery) -> Result<SearchStream, FileSystemError> {
        let search = CompiledSearch::new(query)?;
        stream::run(DiskSource::new(Arc::clone(&self.tree)), search).await
    }

    async fn resolve(
        &self,
        path: &WorkspacePath,
        last: LastLink,
    ) -> Result<WorkspacePath, FileSystemError> {
        self.tree.enter(path)?;
        let is_itself = self
            .tree
            .stat_cached(path)
            .is_some_and(|stat| last == LastLink::Keep || kind(&stat) != FileKind::Symlink);
        if is_itself {
            consume_budget().await;
            return Ok(path.clone());
        }
        let path = path.clone();
        self.run(move |tree| tree.resolve(&path, last)).await
    }

    async fn identity(
        &self,
        path: &WorkspacePath,
        last: LastLink,
    ) -> Result<Option<EntryIdentity>, FileSystemError> {
        let path = path.clone();
        self.run(move |tree| tree.identity(&path, last).map(Some))
            .await
    }

    fn supports(&self, _: &WorkspacePath) -> EntrySupport {
        EntrySupport::ALL
    }

    fn host_path(&self, path: &WorkspacePath) -> Option<PathBuf> {
        if *path.mount() != Mount::Head || path.is_git_internal() {
            return None;
        }
        Some(self.tree.root.path().join(path.relative()))
    }
}
