use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use everruns_core::file_system::{
    ContentVersion, DirectoryPage, EntryIdentity, EntrySupport, FileContent, FileMode, FileStat,
    FileSystemError, LastLink, LinkTarget, PageRequest, Permissions, Precondition, ReadRange,
    Removal, Replace, SearchQuery, SearchStream, SessionFileSystem,
};
use everruns_core::path::{Mount, WorkspacePath};

use super::overlap::Overlaps;
use super::rebase::Tree;
use super::to_its_end::to_its_end;
use super::{RootAccess, WorkspaceRootSet};

/// The head at `/workspace` and the roots at `/roots/<name>`, as one file system.
///
/// * A root that is read-only refuses every change ([`ReadOnly`](FileSystemError::ReadOnly)), also through the
///   head, or through a root that may be changed, when its folder holds the read-only root's: the most specific mount
///   decides. So a root that may be changed, or the head, may lie in the folder of one that may not. This is told by
///   [`host_path`](SessionFileSystem::host_path), links followed.
/// * A move within one tree is that tree's own. Between two trees it copies, verifies the version of each
///   file, and then removes: when the removal fails, both exist
///   ([`PartialMove`](FileSystemError::PartialMove)) and nothing is lost. Once begun it goes on to its end, whether or not
///   anybody waits for it, unless the runtime itself ends: then some files may be at both places, and none at neither.
///   Executable files stay executable and links keep their text; where both trees have permission bits, files keep theirs
///   and folders allow nobody but their owner more than they did. Where the other tree
///   [cannot hold](SessionFileSystem::supports) one of them ([`Unsupported`](FileSystemError::Unsupported)), or the text of
///   a link would leave it ([`Escapes`](FileSystemError::Escapes)), or a folder holds what its
///   [listing hides](DirectoryPage::hides), such as a repository's `.git`, nothing is copied. A file replaces a file only. A link has no version: one that
///   another program changes in the moment in which it is removed is removed as it is then.
/// * A move whose two ends are one entry, by two mounts of one folder or of one tree in memory, or one inside the other,
///   comes out as within that tree: told by [`identity`](SessionFileSystem::identity), and looked at again before anything
///   is removed. Hard links are two entries.
/// * A path of a root that is not there is [`UnknownRoot`](FileSystemError::UnknownRoot) with the names there are.
#[derive(Clone, Debug)]
pub struct MountedFileSystem {
    head: Arc<dyn SessionFileSystem>,
    roots: WorkspaceRootSet,
    overlaps: Overlaps,
}

impl MountedFileSystem {
    /// Mounts `head` and `roots`. Looks where they lie on the host, which blocks for a moment.
    pub fn new(head: Arc<dyn SessionFileSystem>, roots: WorkspaceRootSet) -> Self {
        let overlaps = Overlaps::find(head.as_ref(), &roots);
        Self {
            head,
            roots,
            overlaps,
        }
    }

    /// The additional roots.
    pub fn roots(&self) -> &WorkspaceRootSet {
        &self.roots
    }

    /// The trees that lie in another one: the path of such a tree's top in the outer tree, and the top itself.
    pub fn overlaps(&self) -> &[(WorkspacePath, WorkspacePath)] {
        &self.overlaps.all
    }

    /// The files of the head, for a path of it. Its names for paths are the session's, so nothing is translated.
    fn head(&self, path: &WorkspacePath) -> Option<&dyn SessionFileSystem> {
        (*path.mount() == Mount::Head).then_some(self.head.as_ref())
    }

    /// The tree that serves `path`.
    pub(super) fn tree(&self, path: &WorkspacePath) -> Result<Tree, FileSystemError> {
        let files = match path.mount() {
            Mount::Head => &self.head,
            Mount::Root(name) => match self.roots.get(name) {
                Some(root) => &root.files,
                None => {
                    return Err(FileSystemError::UnknownRoot {
                        name: name.to_string(),
                        known: self.roots.names().map(ToString::to_string).collect(),
                    });
                }
            },
        };
        Ok(Tree {
            files: Arc::clone(files),
            mount: path.mount().clone(),
        })
    }

    fn is_read_only(&self, mount: &Mount) -> bool {
        match mount {
            Mount::Head => false,
            Mount::Root(name) => self.roots.access(name) == Some(RootAccess::ReadOnly),
        }
    }

    /// The top of the root because of which `path`, which links do not change, can only be read.
    pub(crate) fn read_only_root(&self, path: &WorkspacePath) -> Option<WorkspacePath> {
        if self.is_read_only(path.mount()) {
            return Some(WorkspacePath::root().with_mount(path.mount().clone()));
        }
        self.overlaps.protector(path).cloned()
    }

    /// The tree that serves `path`, when it may be changed there.
    pub(super) async fn writable(
        &self,
        path: &WorkspacePath,
        last: LastLink,
    ) -> Result<Tree, FileSystemError> {
        let tree = self.tree(path)?;
        if self.is_read_only(path.mount()) {
            return Err(FileSystemError::ReadOnly { path: path.clone() });
        }
        if self.overlaps.concern(path.mount()) {
            let resolved = match tree.files.resolve(&Tree::inward(path), last).await {
                // The operation itself tells of a link that leads nowhere.
                Err(FileSystemError::NotFound { .. }) => return Ok(tree),
                other => tree.errors(other)?,
            };
            if self.overlaps.protector(&tree.outward(&resolved)).is_some() {
                return Err(FileSystemError::ReadOnly { path: path.clone() });
            }
        }
        Ok(tree)
    }

    /// As [`writable`](Self::writable), for an operation that takes all below `path` with it.
    pub(super) async fn writable_with_all_below(
        &self,
        path: &WorkspacePath,
    ) -> Result<Tree, FileSystemError> {
        let tree = self.writable(path, LastLink::Keep).await?;
        if self.overlaps.concern(path.mount()) {
            let resolved = tree.errors(
                tree.files
                    .resolve(&Tree::inward(path), LastLink::Keep)
                    .await,
            )?;
            if self.overlaps.protect_below(&tree.outward(&resolved)) {
                return Err(FileSystemError::ReadOnly { path: path.clone() });
            }
        }
        Ok(tree)
    }
}

#[async_trait]
impl SessionFileSystem for MountedFileSystem {
    async fn read(
        &self,
        path: &WorkspacePath,
        range: ReadRange,
    ) -> Result<FileContent, FileSystemError> {
        if let Some(head) = self.head(path) {
            return head.read(path, range).await;
        }
        let tree = self.tree(path)?;
        tree.errors(tree.files.read(&Tree::inward(path), range).await)
    }

    async fn write(
        &self,
        path: &WorkspacePath,
        bytes: Bytes,
        precondition: Precondition,
    ) -> Result<ContentVersion, FileSystemError> {
        let tree = self.writable(path, LastLink::Follow).await?;
        let inward = Tree::inward(path);
        tree.errors(tree.files.write(&inward, bytes, precondition).await)
    }

    async fn write_with_mode(
        &self,
        path: &WorkspacePath,
        bytes: Bytes,
        mode: FileMode,
        precondition: Precondition,
    ) -> Result<ContentVersion, FileSystemError> {
        let tree = self.writable(path, LastLink::Follow).await?;
        let inward = Tree::inward(path);
        let write = tree
            .files
            .write_with_mode(&inward, bytes, mode, precondition);
        tree.errors(write.await)
    }

    async fn create_link(
        &self,
        path: &WorkspacePath,
        target: &LinkTarget,
        replace: Replace,
    ) -> Result<(), FileSystemError> {
        let tree = self.writable(path, LastLink::Keep).await?;
        let inward = Tree::inward(path);
        tree.errors(tree.files.create_link(&inward, target, replace).await)
    }

    async fn read_link(&self, path: &WorkspacePath) -> Result<LinkTarget, FileSystemError> {
        let tree = self.tree(path)?;
        tree.errors(tree.files.read_link(&Tree::inward(path)).await)
    }

    async fn remove(
        &self,
        path: &WorkspacePath,
        removal: Removal,
        precondition: Precondition,
    ) -> Result<(), FileSystemError> {
        let tree = match removal {
            Removal::Entry => self.writable(path, LastLink::Keep).await?,
            Removal::Recursive => self.writable_with_all_below(path).await?,
        };
        let inward = Tree::inward(path);
        tree.errors(tree.files.remove(&inward, removal, precondition).await)
    }

    async fn rename(
        &self,
        from: &WorkspacePath,
        to: &WorkspacePath,
        replace: Replace,
    ) -> Result<(), FileSystemError> {
        let source = self.writable_with_all_below(from).await?;
        let target = self.writable(to, LastLink::Keep).await?;
        if source.mount != target.mount {
            let (this, from, to) = (self.clone(), from.clone(), to.clone());
            // It has no end in the middle, so it goes on when nobody waits for it any more.
            return to_its_end(async move {
                this.move_across(&source, &from, &target, &to, replace)
                    .await
            })
            .await;
        }
        let (inward, target) = (Tree::inward(from), Tree::inward(to));
        source.errors(source.files.rename(&inward, &target, replace).await)
    }

    async fn create_dir(&self, path: &WorkspacePath) -> Result<(), FileSystemError> {
        let tree = self.writable(path, LastLink::Follow).await?;
        tree.errors(tree.files.create_dir(&Tree::inward(path)).await)
    }

    async fn create_dir_within(
        &self,
        path: &WorkspacePath,
        permissions: Permissions,
    ) -> Result<(), FileSystemError> {
        let tree = self.writable(path, LastLink::Follow).await?;
        let inward = Tree::inward(path);
        tree.errors(tree.files.create_dir_within(&inward, permissions).await)
    }

    async fn stat(&self, path: &WorkspacePath) -> Result<FileStat, FileSystemError> {
        let tree = self.tree(path)?;
        tree.errors(tree.files.stat(&Tree::inward(path)).await)
    }

    async fn list(
        &self,
        dir: &WorkspacePath,
        page: PageRequest,
    ) -> Result<DirectoryPage, FileSystemError> {
        let tree = self.tree(dir)?;
        tree.errors(tree.files.list(&Tree::inward(dir), page).await)
    }

    async fn search(&self, query: SearchQuery) -> Result<SearchStream, FileSystemError> {
        self.tree(&query.folder)?.search(query).await
    }

    async fn resolve(
        &self,
        path: &WorkspacePath,
        last: LastLink,
    ) -> Result<WorkspacePath, FileSystemError> {
        let tree = self.tree(path)?;
        let resolved = tree.errors(tree.files.resolve(&Tree::inward(path), last).await)?;
        Ok(tree.outward(&resolved))
    }

    async fn identity(
        &self,
        path: &WorkspacePath,
        last: LastLink,
    ) -> Result<Option<EntryIdentity>, FileSystemError> {
        let tree = self.tree(path)?;
        tree.errors(tree.files.identity(&Tree::inward(path), last).await)
    }

    async fn read_direct(
        &self,
        path: &WorkspacePath,
        range: ReadRange,
    ) -> Result<Option<FileContent>, FileSystemError> {
        if let Some(head) = self.head(path) {
            return head.read_direct(path, range).await;
        }
        let tree = self.tree(path)?;
        tree.errors(tree.files.read_direct(&Tree::inward(path), range).await)
    }

    async fn stat_direct(&self, path: &WorkspacePath) -> Result<Option<FileStat>, FileSystemError> {
        if let Some(head) = self.head(path) {
            return head.stat_direct(path).await;
        }
        let tree = self.tree(path)?;
        tree.errors(tree.files.stat_direct(&Tree::inward(path)).await)
    }

    fn supports(&self, path: &WorkspacePath) -> EntrySupport {
        match self.tree(path) {
            Ok(tree) => tree.files.supports(&Tree::inward(path)),
            Err(_) => EntrySupport::NONE,
        }
    }

    fn host_path(&self, path: &WorkspacePath) -> Option<PathBuf> {
        let tree = self.tree(path).ok()?;
        tree.files.host_path(&Tree::inward(path))
    }
}
