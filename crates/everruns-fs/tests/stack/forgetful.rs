//! Wrappers that forget to pass on a part of the contract, which the suite must find out.

use std::fmt;
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
use everruns_testkit::check::{Report, Selection};
use everruns_testkit::conformance::file_system::{self, Options, Subject};

use crate::support::disk;

/// What is not passed on.
#[derive(Clone)]
pub(crate) enum Forgets {
    Nothing,
    /// Nothing, and this is called whenever a link has been made.
    NothingButCalls(Arc<dyn Fn() + Send + Sync>),
    /// The methods that the trait has a default for.
    Executables,
    Links,
    LinkTexts,
    Support,
    Identities,
    /// The mode of a write, but not its bytes.
    ToSetModes,
    /// What a link may replace.
    ToKeepEntries,
    /// The text of a link as it is.
    ToKeepTexts,
}

#[derive(Debug)]
pub(crate) struct Forgetful {
    inner: Arc<dyn SessionFileSystem>,
    forgets: Forgets,
}

impl Forgetful {
    pub(crate) fn new(inner: Arc<dyn SessionFileSystem>, forgets: Forgets) -> Self {
        Self { inner, forgets }
    }
}

impl fmt::Debug for Forgets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Nothing | Self::NothingButCalls(_) => "nothing",
            Self::Executables => "executable files",
            Self::Links => "links",
            Self::LinkTexts => "texts of links",
            Self::Support => "what is held",
            Self::Identities => "which entries are one",
            Self::ToSetModes => "to set modes",
            Self::ToKeepEntries => "to keep entries",
            Self::ToKeepTexts => "to keep texts",
        })
    }
}

fn unsupported(path: &WorkspacePath, what: &'static str) -> FileSystemError {
    FileSystemError::Unsupported {
        path: path.clone(),
        what,
    }
}

#[async_trait]
impl SessionFileSystem for Forgetful {
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
        self.inner.write(path, bytes, precondition).await
    }

    async fn write_with_mode(
        &self,
        path: &WorkspacePath,
        bytes: Bytes,
        mode: FileMode,
        precondition: Precondition,
    ) -> Result<ContentVersion, FileSystemError> {
        let mode = match (&self.forgets, mode) {
            (Forgets::Executables, FileMode::Plain | FileMode::Executable) => {
                return Err(unsupported(path, "executable files"));
            }
            (Forgets::ToSetModes, _) => FileMode::Kept,
            _ => mode,
        };
        let write = self.inner.write_with_mode(path, bytes, mode, precondition);
        write.await
    }

    async fn create_link(
        &self,
        path: &WorkspacePath,
        target: &LinkTarget,
        replace: Replace,
    ) -> Result<(), FileSystemError> {
        let other = LinkTarget::new([b"./", target.as_bytes()].concat()).unwrap();
        let (target, replace) = match &self.forgets {
            Forgets::Links => return Err(unsupported(path, "symbolic links")),
            Forgets::ToKeepTexts => (&other, replace),
            Forgets::ToKeepEntries => (target, Replace::File),
            _ => (target, replace),
        };
        let made = self.inner.create_link(path, target, replace).await;
        if let Forgets::NothingButCalls(call) = &self.forgets {
            call();
        }
        made
    }

    async fn read_link(&self, path: &WorkspacePath) -> Result<LinkTarget, FileSystemError> {
        match &self.forgets {
            Forgets::LinkTexts => Err(unsupported(path, "symbolic links")),
            _ => self.inner.read_link(path).await,
        }
    }

    async fn remove(
        &self,
        path: &WorkspacePath,
        removal: Removal,
        precondition: Precondition,
    ) -> Result<(), FileSystemError> {
        self.inner.remove(path, removal, precondition).await
    }

    async fn rename(
        &self,
        from: &WorkspacePath,
        to: &WorkspacePath,
        replace: Replace,
    ) -> Result<(), FileSystemError> {
        self.inner.rename(from, to, replace).await
    }

    async fn create_dir(&self, path: &WorkspacePath) -> Result<(), FileSystemError> {
        self.inner.create_dir(path).await
    }

    async fn create_dir_within(
        &self,
        path: &WorkspacePath,
        permissions: Permissions,
    ) -> Result<(), FileSystemError> {
        self.inner.create_dir_within(path, permissions).await
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
        match self.forgets {
            Forgets::Identities => Ok(None),
            _ => self.inner.identity(path, last).await,
        }
    }

    fn supports(&self, path: &WorkspacePath) -> EntrySupport {
        let inner = self.inner.supports(path);
        match self.forgets {
            Forgets::Support => EntrySupport::NONE,
            Forgets::Executables => EntrySupport {
                executables: false,
                ..inner
            },
            Forgets::Links => EntrySupport {
                links: false,
                ..inner
            },
            _ => inner,
        }
    }

    fn host_path(&self, path: &WorkspacePath) -> Option<PathBuf> {
        self.inner.host_path(path)
    }
}

/// Proves C21 for the suite's sake: a wrapper that forgets a part of the contract fails a check, and one that forgets
/// nothing fails none.
#[tokio::test(flavor = "multi_thread")]
async fn c21_a_wrapper_that_forgets_is_found_out() {
    let checks = ["modes::", "links::", "link_texts::"];
    for (forgets, check) in [
        (Forgets::Nothing, None),
        (Forgets::Support, Some("modes::what_is_held_is_told")),
        (Forgets::Executables, Some("modes::set_cleared_and_kept")),
        (Forgets::ToSetModes, Some("modes::set_cleared_and_kept")),
        (Forgets::Links, Some("links::are_entries_of_their_own")),
        (Forgets::LinkTexts, Some("links::are_entries_of_their_own")),
        (
            Forgets::ToKeepEntries,
            Some("links::an_existing_entry_is_kept"),
        ),
        (
            Forgets::ToKeepTexts,
            Some("link_texts::are_kept_byte_for_byte"),
        ),
    ] {
        let mut found = Vec::new();
        for group in checks {
            let options = Options::default().select(Selection::all().only(group));
            let report = file_system::report(options, || async {
                let (inner, folder) = disk();
                Subject::new(Arc::new(Forgetful::new(inner, forgets.clone()))).keeping(folder)
            })
            .await;
            found.push(report);
        }
        match check {
            None => found.iter().for_each(Report::assert_passed),
            Some(check) => assert!(
                found.iter().any(|report| report.has_failed(check)),
                "a wrapper that forgets {forgets:?} passes {check}"
            ),
        }
    }
}
