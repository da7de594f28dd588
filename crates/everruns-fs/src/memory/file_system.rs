use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::{io, mem};

use async_trait::async_trait;
use bytes::Bytes;
use everruns_core::file_system::{
    ContentVersion, DirectoryEntry, DirectoryPage, EntryIdentity, EntrySupport, FileContent,
    FileKind, FileMode, FileStat, FileSystemError, LastLink, PageRequest, Precondition, ReadRange,
    Removal, Replace, SearchQuery, SearchStream, SessionFileSystem, TreeIdentity,
};
use everruns_core::path::WorkspacePath;

use super::MemoryOptions;
use super::checks::{check, file_at, node_at, not_a_file, not_blocked, usable};
use super::digest::DigestKey;
use super::node::{File, Node};
use super::reach::check_below;
use super::source::MemorySource;
use super::tree::Tree;
use crate::search::{CompiledSearch, stream};

/// Files in memory.
///
/// The tree is persistent: [`fork`](Self::fork) shares all of it and costs the same for any size, and a change
/// copies only the folders on its way, once. There are no links. Files keep their executable bit when they are
/// rewritten or moved; [`set_executable`](Self::set_executable) sets it. Nothing outlives the process.
///
/// Clones are the same file system.
#[derive(Clone, Debug)]
pub struct MemoryFileSystem {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    options: MemoryOptions,
    state: RwLock<State>,
}

#[derive(Clone, Debug)]
struct State {
    tree: Tree,
    /// Why the tree can no longer be used.
    closed: Option<&'static str>,
}

impl MemoryFileSystem {
    /// An empty tree with the default bounds.
    pub fn new() -> Self {
        Self::with_options(MemoryOptions::default())
    }

    /// An empty tree.
    pub fn with_options(options: MemoryOptions) -> Self {
        let empty = Tree::empty(DigestKey::of_no_revision(), options.clock.now());
        Self::of(empty, options)
    }

    pub(crate) fn of(tree: Tree, options: MemoryOptions) -> Self {
        Self {
            shared: Arc::new(Shared {
                options,
                state: RwLock::new(State { tree, closed: None }),
            }),
        }
    }

    /// Another tree with the same files; changes of one are not seen in the other.
    #[must_use]
    pub fn fork(&self) -> Self {
        Self::of(self.tree(), self.shared.options.clone())
    }

    /// Sets or clears the executable bit of a file.
    ///
    /// # Errors
    /// `NotFound`, `NotAFile`, `GitInternal`.
    pub fn set_executable(
        &self,
        path: &WorkspacePath,
        executable: bool,
    ) -> Result<(), FileSystemError> {
        check(path)?;
        let mut state = self.write_state()?;
        let mut file = File::clone(file_at(state.tree.top(), path)?);
        file.executable = executable;
        let now = self.shared.options.clock.now();
        state.tree.put(path, Node::File(Arc::new(file)), now);
        Ok(())
    }

    /// The present state.
    pub(crate) fn tree(&self) -> Tree {
        let state = self
            .shared
            .state
            .read()
            .unwrap_or_else(PoisonError::into_inner);
        state.tree.clone()
    }

    /// Puts another state in place of the present one, and gives that one back.
    pub(crate) fn replace(&self, tree: Tree) -> Tree {
        mem::replace(&mut self.locked().tree, tree)
    }

    /// Puts what `make` makes of the present state in its place, and gives that back; when it fails, nothing changes.
    pub(crate) fn exchange<E>(
        &self,
        make: impl FnOnce(&Tree) -> Result<Tree, E>,
    ) -> Result<Tree, E> {
        let mut state = self.locked();
        let made = make(&state.tree)?;
        Ok(mem::replace(&mut state.tree, made))
    }

    /// Takes the files away; every later call fails with `reason`.
    pub(crate) fn close(&self, reason: &'static str) -> Tree {
        let nothing = Tree::empty(DigestKey::of_no_revision(), self.shared.options.clock.now());
        let mut state = self.locked();
        state.closed = Some(reason);
        mem::replace(&mut state.tree, nothing)
    }

    fn locked(&self) -> RwLockWriteGuard<'_, State> {
        let state = self.shared.state.write();
        state.unwrap_or_else(PoisonError::into_inner)
    }

    fn read_state(&self) -> Result<RwLockReadGuard<'_, State>, FileSystemError> {
        let state = self
            .shared
            .state
            .read()
            .unwrap_or_else(PoisonError::into_inner);
        usable(state.closed).map(|()| state)
    }

    fn write_state(&self) -> Result<RwLockWriteGuard<'_, State>, FileSystemError> {
        let state = self.locked();
        usable(state.closed).map(|()| state)
    }
}

impl Default for MemoryFileSystem {
    fn default() -> Self {
        Self::new()
    }
}

#[async_trait]
impl SessionFileSystem for MemoryFileSystem {
    async fn read(
        &self,
        path: &WorkspacePath,
        range: ReadRange,
    ) -> Result<FileContent, FileSystemError> {
        check(path)?;
        let file = Arc::clone(file_at(self.read_state()?.tree.top(), path)?);
        Ok(FileContent::with_version(&file.bytes, range, file.version))
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
        check(path)?;
        let options = &self.shared.options;
        let size = bytes.len() as u64;
        if size > options.max_file_bytes {
            return Err(FileSystemError::TooLarge {
                path: path.clone(),
                size,
                limit: options.max_file_bytes,
            });
        }
        let now = options.clock.now();
        let mut file = File::new(bytes, false, now);
        let version = file.version;
        let mut state = self.write_state()?;
        not_blocked(state.tree.top(), path)?;
        let current = match state.tree.get(path) {
            Some(Node::Folder(_)) => return Err(not_a_file(path)),
            Some(Node::File(file)) => Some(file),
            None => None,
        };
        precondition.check(path, current.map(|file| file.version))?;
        file.executable = mode.executable(current.is_some_and(|file| file.executable));
        let replaced = current.map_or(0, |file| file.bytes.len() as u64);
        let total = state.tree.total_bytes() - replaced + size;
        if total > options.max_total_bytes && size > replaced {
            return Err(FileSystemError::NoSpace {
                path: path.clone(),
                step: "write",
                source: io::ErrorKind::StorageFull.into(),
            });
        }
        state.tree.put(path, Node::File(Arc::new(file)), now);
        Ok(version)
    }

    async fn remove(
        &self,
        path: &WorkspacePath,
        removal: Removal,
        precondition: Precondition,
    ) -> Result<(), FileSystemError> {
        check(path)?;
        if path.is_top() {
            return Err(FileSystemError::InvalidOperation {
                path: path.clone(),
                reason: "the top folder cannot be removed",
            });
        }
        let now = self.shared.options.clock.now();
        let mut state = self.write_state()?;
        match node_at(state.tree.top(), path)? {
            Node::File(file) => precondition.check(path, Some(file.version))?,
            Node::Folder(_) if precondition != Precondition::Any => return Err(not_a_file(path)),
            Node::Folder(folder) if removal == Removal::Entry && !folder.is_empty() => {
                return Err(FileSystemError::DirectoryNotEmpty { path: path.clone() });
            }
            Node::Folder(_) => {}
        }
        let taken = state.tree.take(path, now);
        // Freeing a large folder takes its time; nobody waits for that.
        drop(state);
        drop(taken);
        Ok(())
    }

    async fn rename(
        &self,
        from: &WorkspacePath,
        to: &WorkspacePath,
        replace: Replace,
    ) -> Result<(), FileSystemError> {
        check(from)?;
        check(to)?;
        let now = self.shared.options.clock.now();
        let mut state = self.write_state()?;
        let moving = node_at(state.tree.top(), from)?.clone();
        if from.is_top() {
            return Err(FileSystemError::InvalidOperation {
                path: from.clone(),
                reason: "the top folder cannot be moved",
            });
        }
        let is_folder = moving.kind() == FileKind::Directory;
        if is_folder && to != from && to.starts_with(from) {
            return Err(FileSystemError::InvalidOperation {
                path: to.clone(),
                reason: "a folder cannot be moved into itself",
            });
        }
        not_blocked(state.tree.top(), to)?;
        match state.tree.get(to) {
            None => replace.precondition().check(to, None)?,
            Some(_) if replace == Replace::Never || is_folder => {
                return Err(FileSystemError::AlreadyExists { path: to.clone() });
            }
            Some(Node::Folder(_)) => return Err(not_a_file(to)),
            Some(Node::File(file)) => {
                replace.precondition().check(to, Some(file.version))?;
                if from == to {
                    return Ok(());
                }
            }
        }
        check_below(to, &moving)?;
        state.tree.take(from, now);
        state.tree.put(to, moving, now);
        Ok(())
    }

    async fn create_dir(&self, path: &WorkspacePath) -> Result<(), FileSystemError> {
        check(path)?;
        let now = self.shared.options.clock.now();
        let mut state = self.write_state()?;
        not_blocked(state.tree.top(), path)?;
        match state.tree.get(path) {
            Some(Node::Folder(_)) => Ok(()),
            Some(Node::File(_)) => Err(FileSystemError::NotADirectory { path: path.clone() }),
            None => {
                state.tree.put(path, Node::empty(now), now);
                Ok(())
            }
        }
    }

    async fn stat(&self, path: &WorkspacePath) -> Result<FileStat, FileSystemError> {
        check(path)?;
        Ok(node_at(self.read_state()?.tree.top(), path)?.stat())
    }

    async fn list(
        &self,
        dir: &WorkspacePath,
        page: PageRequest,
    ) -> Result<DirectoryPage, FileSystemError> {
        check(dir)?;
        let folder = match node_at(self.read_state()?.tree.top(), dir)? {
            Node::Folder(folder) => Arc::clone(folder),
            Node::File(_) => return Err(FileSystemError::NotADirectory { path: dir.clone() }),
        };
        // No name is empty, so all come after the empty one.
        let mut rest = folder
            .children()
            .after(page.after.as_deref().unwrap_or_default());
        let entries: Vec<DirectoryEntry> = rest
            .by_ref()
            .take(page.limit.max(1))
            .map(|(name, node)| DirectoryEntry {
                name: name.to_string(),
                stat: node.stat(),
            })
            .collect();
        let next = rest
            .next()
            .and(entries.last())
            .map(|last| last.name.clone());
        Ok(DirectoryPage {
            entries,
            unrepresentable: Vec::new(),
            hides: None,
            next,
        })
    }

    async fn search(&self, query: SearchQuery) -> Result<SearchStream, FileSystemError> {
        check(&query.folder)?;
        let search = CompiledSearch::new(query)?;
        let source = MemorySource(self.read_state()?.tree.clone());
        stream::run(source, search).await
    }

    async fn resolve(
        &self,
        path: &WorkspacePath,
        _: LastLink,
    ) -> Result<WorkspacePath, FileSystemError> {
        check(path)?;
        not_blocked(self.read_state()?.tree.top(), path)?;
        Ok(path.clone())
    }

    async fn identity(
        &self,
        path: &WorkspacePath,
        last: LastLink,
    ) -> Result<Option<EntryIdentity>, FileSystemError> {
        // There are no links.
        let _ = last;
        check(path)?;
        node_at(self.read_state()?.tree.top(), path)?;
        Ok(Some(EntryIdentity::InTree {
            tree: TreeIdentity::of(&self.shared),
            path: path.clone(),
        }))
    }

    async fn read_direct(
        &self,
        path: &WorkspacePath,
        range: ReadRange,
    ) -> Result<Option<FileContent>, FileSystemError> {
        // There are no links.
        self.read(path, range).await.map(Some)
    }

    async fn stat_direct(&self, path: &WorkspacePath) -> Result<Option<FileStat>, FileSystemError> {
        self.stat(path).await.map(Some)
    }

    fn supports(&self, _: &WorkspacePath) -> EntrySupport {
        EntrySupport {
            executables: true,
            links: false,
        }
    }

    fn host_path(&self, _: &WorkspacePath) -> Option<PathBuf> {
        None
    }
}
