//! A head's files.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use everruns_core::clock::{Clock as _, SystemClock};
use everruns_core::file_system::{
    ContentVersion, DirectoryPage, FileContent, FileKind, FileStat, FileSystemError, LastLink,
    PageRequest, Precondition, ReadRange, Removal, Replace, SearchQuery, SearchStream,
    SessionFileSystem,
};
use everruns_core::ids::{WorkspaceHeadId, WorkspaceId};
use everruns_core::path::WorkspacePath;
use everruns_core::workspace::WorkspaceError;

use super::journal_file::JournalFile;
use super::search;
use super::tree::{Entry, Tree, belongs};

/// The files of one head of the journal.
#[derive(Clone, Debug)]
pub(crate) struct JournalFileSystem {
    pub(crate) journal: Arc<JournalFile>,
    pub(crate) workspace: WorkspaceId,
    pub(crate) head: WorkspaceHeadId,
}

impl JournalFileSystem {
    /// Runs `work` on the head's tree as one atomic step.
    async fn with<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Tree, &JournalFile) -> Result<T, FileSystemError> + Send + 'static,
    ) -> Result<T, FileSystemError> {
        let (workspace, head) = (self.workspace.clone(), self.head.clone());
        let result: Result<T, Failed> = self
            .journal
            .change(move |records, journal| {
                let record = records.head(&workspace, &head)?.alive()?;
                work(&mut record.tree, journal).map_err(Failed)
            })
            .await;
        result.map_err(|Failed(error)| error)
    }
}

/// Lets a failure of the journal pass through an operation on files.
struct Failed(FileSystemError);

impl From<WorkspaceError> for Failed {
    fn from(error: WorkspaceError) -> Self {
        Self(match error {
            WorkspaceError::HeadDestroyed { .. } => FileSystemError::StaleRoot {
                reason: error.to_string(),
            },
            error => io_error(
                &WorkspacePath::root(),
                "use the journal of",
                io::Error::other(error),
            ),
        })
    }
}

pub(crate) fn io_error(
    path: &WorkspacePath,
    step: &'static str,
    source: io::Error,
) -> FileSystemError {
    let path = path.clone();
    match source.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            FileSystemError::NoSpace { path, step, source }
        }
        _ => FileSystemError::Io { path, step, source },
    }
}

fn not_a_file(path: &WorkspacePath) -> FileSystemError {
    FileSystemError::NotAFile {
        path: path.clone(),
        kind: FileKind::Directory,
    }
}

fn not_for_the_top(path: &WorkspacePath, reason: &'static str) -> Result<(), FileSystemError> {
    if path.is_top() {
        return Err(FileSystemError::InvalidOperation {
            path: path.clone(),
            reason,
        });
    }
    Ok(())
}

#[async_trait]
impl SessionFileSystem for JournalFileSystem {
    async fn read(
        &self,
        path: &WorkspacePath,
        range: ReadRange,
    ) -> Result<FileContent, FileSystemError> {
        let path = path.clone();
        self.with(move |tree, journal| match tree.entry(&path)? {
            Entry::Folder => Err(not_a_file(&path)),
            Entry::File { version, .. } => {
                let whole = journal
                    .content(version)
                    .map_err(|error| io_error(&path, "read", error))?;
                Ok(FileContent::with_version(&whole, range, version))
            }
        })
        .await
    }

    async fn write(
        &self,
        path: &WorkspacePath,
        bytes: Bytes,
        precondition: Precondition,
    ) -> Result<ContentVersion, FileSystemError> {
        let path = path.clone();
        self.with(move |tree, journal| {
            belongs(&path)?;
            if let Ok(Entry::Folder) = tree.entry(&path) {
                return Err(not_a_file(&path));
            }
            precondition.check(&path, tree.version(&path))?;
            if let Some(parent) = path.parent() {
                tree.make_folder(&parent)?;
            }
            let version = journal
                .keep(&bytes)
                .map_err(|error| io_error(&path, "write", error))?;
            let entry = Entry::File {
                version,
                size: bytes.len() as u64,
                modified: SystemClock.now(),
            };
            tree.0.insert(path.relative().to_owned(), entry);
            Ok(version)
        })
        .await
    }

    async fn remove(
        &self,
        path: &WorkspacePath,
        removal: Removal,
        precondition: Precondition,
    ) -> Result<(), FileSystemError> {
        let path = path.clone();
        self.with(move |tree, _| {
            not_for_the_top(&path, "the top folder cannot be removed")?;
            let entry = tree.entry(&path)?;
            if entry == Entry::Folder && precondition != Precondition::Any {
                return Err(not_a_file(&path));
            }
            precondition.check(&path, tree.version(&path))?;
            let below: Vec<String> = tree.below(&path).map(|(path, _)| path.to_owned()).collect();
            if removal == Removal::Entry && !below.is_empty() {
                return Err(FileSystemError::DirectoryNotEmpty { path });
            }
            for gone in below.iter().map(String::as_str).chain([path.relative()]) {
                tree.0.remove(gone);
            }
            Ok(())
        })
        .await
    }

    async fn rename(
        &self,
        from: &WorkspacePath,
        to: &WorkspacePath,
        replace: Replace,
    ) -> Result<(), FileSystemError> {
        let (from, to) = (from.clone(), to.clone());
        self.with(move |tree, _| {
            belongs(&to)?;
            not_for_the_top(&from, "the top folder cannot be moved")?;
            let moved = tree.entry(&from)?;
            if from == to && replace != Replace::Never && moved != Entry::Folder {
                return replace.precondition().check(&to, tree.version(&to));
            }
            if moved == Entry::Folder && from != to && to.starts_with(&from) {
                let reason = "a folder cannot be moved into itself";
                return Err(FileSystemError::InvalidOperation { path: to, reason });
            }
            let files = moved != Entry::Folder && tree.version(&to).is_some();
            if tree.entry(&to).is_ok() && !(files && replace != Replace::Never) {
                return Err(FileSystemError::AlreadyExists { path: to });
            }
            replace.precondition().check(&to, tree.version(&to))?;
            if let Some(parent) = to.parent() {
                tree.make_folder(&parent)?;
            }
            tree.relocate(&from, &to);
            Ok(())
        })
        .await
    }

    async fn create_dir(&self, path: &WorkspacePath) -> Result<(), FileSystemError> {
        let path = path.clone();
        self.with(move |tree, _| tree.make_folder(&path)).await
    }

    async fn stat(&self, path: &WorkspacePath) -> Result<FileStat, FileSystemError> {
        let path = path.clone();
        self.with(move |tree, _| Ok(tree.entry(&path)?.stat()))
            .await
    }

    async fn list(
        &self,
        dir: &WorkspacePath,
        page: PageRequest,
    ) -> Result<DirectoryPage, FileSystemError> {
        let dir = dir.clone();
        self.with(move |tree, _| {
            if tree.entry(&dir)? != Entry::Folder {
                return Err(FileSystemError::NotADirectory { path: dir });
            }
            let mut entries = tree.children(&dir);
            entries.retain(|entry| page.after.as_ref().is_none_or(|after| entry.name > *after));
            let more = entries.len() > page.limit.max(1);
            entries.truncate(page.limit.max(1));
            Ok(DirectoryPage {
                next: entries
                    .last()
                    .filter(|_| more)
                    .map(|entry| entry.name.clone()),
                entries,
                unrepresentable: Vec::new(),
                hides: None,
            })
        })
        .await
    }

    async fn search(&self, query: SearchQuery) -> Result<SearchStream, FileSystemError> {
        let events = self
            .with(move |tree, journal| search::run(tree, journal, &query))
            .await?;
        Ok(Box::pin(futures::stream::iter(events.into_iter().map(Ok))))
    }

    async fn resolve(
        &self,
        path: &WorkspacePath,
        _last: LastLink,
    ) -> Result<WorkspacePath, FileSystemError> {
        // There are no links, and a name has one spelling.
        belongs(path)?;
        Ok(path.clone())
    }

    fn host_path(&self, _path: &WorkspacePath) -> Option<PathBuf> {
        None
    }
}
