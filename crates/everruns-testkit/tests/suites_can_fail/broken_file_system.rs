//! A wrapper that breaks one promise.

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use everruns_core::file_system::{
    ContentVersion, DirectoryPage, EntryIdentity, EntrySupport, FileContent, FileMode, FileStat,
    FileSystemError, LastLink, LinkTarget, PageRequest, Precondition, ReadRange, Removal, Replace,
    SearchQuery, SearchStream, SessionFileSystem,
};
use everruns_core::path::WorkspacePath;

/// Which promise is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flaw {
    /// None: a wrapper that forwards everything passes.
    None,
    /// The precondition is checked apart from the write.
    CheckThenWrite,
    /// A write puts its first half there first.
    TornWrite,
    /// The conflict carries no current version.
    ForgetfulConflict,
    /// The version covers only the range read.
    VersionOfRange,
    /// Pages start at their first name again.
    RepeatedPages,
    /// `.git` is refused in one spelling only.
    OneSpellingOfGit,
    /// A move replaces what is there.
    RenameReplaces,
    /// A move replaces a file of any version.
    RenameForgetsTheVersion,
    /// The filter of a search is dropped.
    UnfilteredSearch,
    /// A failed write leaves a file beside it.
    LeftOvers,
    /// A mode is dropped where there are none, and not refused.
    ModesAreLost,
    /// The wrapper promises more than there is.
    PromisesAll,
}

#[derive(Debug)]
pub(crate) struct Broken {
    pub(crate) inner: Arc<dyn SessionFileSystem>,
    pub(crate) flaw: Flaw,
}

/// The path as the inner file system would take it, with other spellings of `.git` disguised.
fn disguised(path: &WorkspacePath) -> WorkspacePath {
    let plain = path.components().any(|name| name == ".git");
    if plain || !path.is_git_internal() {
        return path.clone();
    }
    let text = path.relative().to_lowercase().replace("git", "disguised");
    WorkspacePath::parse(&text).unwrap_or_else(|_| path.clone())
}

impl Broken {
    fn path(&self, path: &WorkspacePath) -> WorkspacePath {
        if self.flaw == Flaw::OneSpellingOfGit {
            disguised(path)
        } else {
            path.clone()
        }
    }

    async fn current(&self, path: &WorkspacePath) -> Option<ContentVersion> {
        self.inner
            .read(path, ReadRange::ALL)
            .await
            .ok()
            .map(|content| content.version())
    }
}

#[async_trait]
impl SessionFileSystem for Broken {
    async fn read(
        &self,
        path: &WorkspacePath,
        range: ReadRange,
    ) -> Result<FileContent, FileSystemError> {
        let content = self.inner.read(&self.path(path), range).await?;
        if self.flaw == Flaw::VersionOfRange {
            let whole = self.inner.read(&self.path(path), ReadRange::ALL).await?;
            let wrong = ContentVersion::of(content.bytes());
            return Ok(FileContent::with_version(whole.bytes(), range, wrong));
        }
        Ok(content)
    }

    async fn write(
        &self,
        path: &WorkspacePath,
        bytes: Bytes,
        precondition: Precondition,
    ) -> Result<ContentVersion, FileSystemError> {
        let path = &self.path(path);
        match self.flaw {
            Flaw::CheckThenWrite => {
                precondition.check(path, self.current(path).await)?;
                tokio::task::yield_now().await;
                self.inner.write(path, bytes, Precondition::Any).await
            }
            Flaw::TornWrite => {
                precondition.check(path, self.current(path).await)?;
                let half = bytes.slice(..bytes.len() / 2);
                self.inner.write(path, half, Precondition::Any).await?;
                self.inner.write(path, bytes, Precondition::Any).await
            }
            Flaw::ForgetfulConflict => {
                self.inner
                    .write(path, bytes, precondition)
                    .await
                    .map_err(|error| match error {
                        FileSystemError::Conflict { path, expected, .. } => {
                            FileSystemError::Conflict {
                                path,
                                expected,
                                current: None,
                            }
                        }
                        other => other,
                    })
            }
            Flaw::LeftOvers => {
                let result = self.inner.write(path, bytes.clone(), precondition).await;
                if let Err(FileSystemError::Conflict { .. }) = result {
                    let beside = WorkspacePath::parse(&format!("{path}.tmp"))?;
                    self.inner.write(&beside, bytes, Precondition::Any).await?;
                }
                result
            }
            _ => self.inner.write(path, bytes, precondition).await,
        }
    }

    async fn write_with_mode(
        &self,
        path: &WorkspacePath,
        bytes: Bytes,
        mode: FileMode,
        precondition: Precondition,
    ) -> Result<ContentVersion, FileSystemError> {
        if self.flaw == Flaw::ModesAreLost {
            return self.write(path, bytes, precondition).await;
        }
        let path = &self.path(path);
        let write = self.inner.write_with_mode(path, bytes, mode, precondition);
        write.await
    }

    async fn create_link(
        &self,
        path: &WorkspacePath,
        target: &LinkTarget,
        replace: Replace,
    ) -> Result<(), FileSystemError> {
        let path = &self.path(path);
        self.inner.create_link(path, target, replace).await
    }

    async fn read_link(&self, path: &WorkspacePath) -> Result<LinkTarget, FileSystemError> {
        self.inner.read_link(&self.path(path)).await
    }

    async fn remove(
        &self,
        path: &WorkspacePath,
        removal: Removal,
        precondition: Precondition,
    ) -> Result<(), FileSystemError> {
        self.inner
            .remove(&self.path(path), removal, precondition)
            .await
    }

    async fn rename(
        &self,
        from: &WorkspacePath,
        to: &WorkspacePath,
        replace: Replace,
    ) -> Result<(), FileSystemError> {
        let replace = match (self.flaw, replace) {
            (Flaw::RenameReplaces, _) | (Flaw::RenameForgetsTheVersion, Replace::Matches(_)) => {
                Replace::File
            }
            _ => replace,
        };
        self.inner
            .rename(&self.path(from), &self.path(to), replace)
            .await
    }

    async fn create_dir(&self, path: &WorkspacePath) -> Result<(), FileSystemError> {
        self.inner.create_dir(&self.path(path)).await
    }

    async fn stat(&self, path: &WorkspacePath) -> Result<FileStat, FileSystemError> {
        self.inner.stat(&self.path(path)).await
    }

    async fn list(
        &self,
        dir: &WorkspacePath,
        page: PageRequest,
    ) -> Result<DirectoryPage, FileSystemError> {
        let mut page = page;
        if self.flaw == Flaw::RepeatedPages {
            page.after = page.after.map(|mut name| {
                name.pop();
                name
            });
        }
        self.inner.list(&self.path(dir), page).await
    }

    async fn search(&self, mut query: SearchQuery) -> Result<SearchStream, FileSystemError> {
        if self.flaw == Flaw::UnfilteredSearch {
            query.filter = None;
        }
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

    fn supports(&self, path: &WorkspacePath) -> EntrySupport {
        match self.flaw {
            Flaw::PromisesAll => EntrySupport::ALL,
            _ => self.inner.supports(path),
        }
    }

    fn host_path(&self, path: &WorkspacePath) -> Option<PathBuf> {
        self.inner.host_path(path)
    }
}
