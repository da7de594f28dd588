use bytes::Bytes;
use everruns_core::file_system::{
    ContentVersion, FileKind, FileMode, FileStat, FileSystemError, Hidden, LinkTarget, PageRequest,
    Permissions, Precondition, Removal, Replace,
};
use everruns_core::path::WorkspacePath;

use super::super::rebase::Tree;

/// One end of a move: a tree, and the path in it as the tree knows it.
pub(super) struct End<'a> {
    pub(super) tree: &'a Tree,
    pub(super) path: WorkspacePath,
}

/// What may happen to the destination.
#[derive(Clone, Copy)]
pub(super) struct Before {
    pub(super) replace: Replace,
    /// Whether what is there is an executable file.
    pub(super) executable: bool,
}

/// An entry of a folder that moves, where it goes, and what is known of it.
pub(super) type Entry = (WorkspacePath, WorkspacePath, FileStat);

impl Before {
    pub(super) fn precondition(self) -> Precondition {
        self.replace.precondition()
    }

    /// How to write a file that is `executable` or not.
    pub(super) fn mode(self, executable: bool) -> FileMode {
        match (executable, self.executable) {
            (true, _) => FileMode::Executable,
            (false, true) => FileMode::Plain,
            (false, false) => FileMode::Kept,
        }
    }
}

const HIDES: &str = "it holds what its listing does not show and what therefore cannot move with it, such as the hidden \
                     file of a write that goes on or was cut off: try again, or move what it shows";

impl<'a> End<'a> {
    pub(super) fn new(tree: &'a Tree, path: &WorkspacePath) -> Self {
        Self {
            tree,
            path: Tree::inward(path),
        }
    }

    pub(super) async fn stat(&self, path: &WorkspacePath) -> Result<FileStat, FileSystemError> {
        self.tree.errors(self.tree.files.stat(path).await)
    }

    /// How to write a file with this mode here.
    pub(super) fn mode(
        &self,
        executable: bool,
        permissions: Option<Permissions>,
        before: Before,
    ) -> FileMode {
        match permissions {
            Some(permissions) if self.tree.files.supports(&self.path).executables => {
                FileMode::Exact(permissions)
            }
            _ => before.mode(executable),
        }
    }

    /// Finds out a disk that has no modes and does not say so.
    pub(super) async fn must_be_as(
        &self,
        path: &WorkspacePath,
        executable: bool,
        permissions: Option<Permissions>,
    ) -> Result<(), FileSystemError> {
        let stat = self.stat(path).await?;
        let is_wider = matches!(
            (stat.permissions, permissions),
            (Some(copy), Some(source)) if copy.exceed(source)
        );
        if stat.executable == executable && !is_wider {
            return Ok(());
        }
        Err(FileSystemError::Unsupported {
            path: self.tree.outward(path),
            what: "modes of files",
        })
    }

    pub(super) async fn read_link(
        &self,
        path: &WorkspacePath,
    ) -> Result<LinkTarget, FileSystemError> {
        self.tree.errors(self.tree.files.read_link(path).await)
    }

    pub(super) async fn write(
        &self,
        path: &WorkspacePath,
        bytes: Bytes,
        mode: FileMode,
        before: Precondition,
    ) -> Result<ContentVersion, FileSystemError> {
        let files = &self.tree.files;
        let written = files.write_with_mode(path, bytes, mode, before).await;
        self.tree.errors(written)
    }

    pub(super) async fn create_link(
        &self,
        path: &WorkspacePath,
        target: &LinkTarget,
        replace: Replace,
    ) -> Result<(), FileSystemError> {
        let made = self.tree.files.create_link(path, target, replace).await;
        self.tree.errors(made)
    }

    pub(super) async fn remove(
        &self,
        path: &WorkspacePath,
        unchanged: Precondition,
    ) -> Result<(), FileSystemError> {
        let removed = self
            .tree
            .files
            .remove(path, Removal::Entry, unchanged)
            .await;
        self.tree.errors(removed)
    }

    /// What may happen to the destination, as far as `replace` allows something to be there.
    pub(super) async fn before(
        &self,
        kind: FileKind,
        replace: Replace,
    ) -> Result<Before, FileSystemError> {
        let path = self.tree.outward(&self.path);
        let onto_nothing = |replace| Before {
            replace,
            executable: false,
        };
        let there = match (self.stat(&self.path).await, replace) {
            (Err(FileSystemError::NotFound { .. }), Replace::Matches(_)) => {
                replace.precondition().check(&path, None)?;
                return Ok(onto_nothing(replace));
            }
            (Err(FileSystemError::NotFound { .. }), _) => return Ok(onto_nothing(Replace::Never)),
            (Err(error), _) => return Err(error),
            (Ok(_), Replace::Never) => return Err(FileSystemError::AlreadyExists { path }),
            (Ok(there), _) => there,
        };
        match (kind, there.kind) {
            (FileKind::File | FileKind::Symlink, FileKind::File)
            | (FileKind::Symlink, FileKind::Symlink) => Ok(Before {
                replace,
                executable: there.executable,
            }),
            (FileKind::File | FileKind::Symlink, kind) => {
                Err(FileSystemError::NotAFile { path, kind })
            }
            _ => Err(FileSystemError::AlreadyExists { path }),
        }
    }

    /// A move of what is here to `to`, which is the same entry: what comes of it is this tree's own to say.
    pub(super) async fn onto_itself(
        &self,
        to: &WorkspacePath,
        replace: Replace,
    ) -> Result<(), FileSystemError> {
        let files = &self.tree.files;
        let moved = files.rename(&self.path, &self.path, replace).await;
        moved.map_err(|error| error.map_paths(&|_| to.clone()))
    }

    pub(super) async fn entries(
        &self,
        from: &WorkspacePath,
        to: &WorkspacePath,
    ) -> Result<Vec<Entry>, FileSystemError> {
        let mut entries = Vec::new();
        let mut request = PageRequest::default();
        loop {
            let page = self.tree.files.list(from, request.clone()).await;
            let page = self.tree.errors(page)?;
            match page.hides {
                None => {}
                Some(Hidden::Git) => {
                    return Err(FileSystemError::GitInternal {
                        path: self.tree.outward(from),
                    });
                }
                Some(_) => return Err(self.refused(from, HIDES)),
            }
            if !page.unrepresentable.is_empty() {
                return Err(self.refused(from, "it holds names that are not Unicode"));
            }
            for entry in page.entries {
                entries.push((from.join(&entry.name)?, to.join(&entry.name)?, entry.stat));
            }
            match page.next {
                Some(next) => request.after = Some(next),
                None => return Ok(entries),
            }
        }
    }

    pub(super) fn refused(&self, path: &WorkspacePath, reason: &'static str) -> FileSystemError {
        FileSystemError::InvalidOperation {
            path: self.tree.outward(path),
            reason,
        }
    }
}
