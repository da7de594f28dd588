//! What a builder was given as text and paths, checked.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use everruns_core::file_system::FileSystemError;
use everruns_core::path::{RootName, WorkspacePath};
use everruns_core::workspace::{Workspace, WorkspaceBackend, WorkspaceError, WorkspaceHead};
use everruns_fs::disk::{DiskFileSystem, DiskOptions};
use everruns_fs::{
    DirectoryWorkspaceBackend, MemoryFileSystem, RootAccess, SeedError, SeededFile,
    SeededFileSystem, WorkspaceRootSet,
};

use super::{BuildError, state};

/// The one folder that is the head of every session given no other.
#[derive(Debug)]
pub(crate) struct DirectoryChoice {
    backend: Arc<dyn WorkspaceBackend>,
    locator: String,
}

impl DirectoryChoice {
    pub(crate) fn backend(&self) -> Arc<dyn WorkspaceBackend> {
        Arc::clone(&self.backend)
    }

    /// The folder as a head: the same shared one every time.
    pub(crate) async fn head(&self) -> Result<WorkspaceHead, WorkspaceError> {
        let workspace = Workspace::open(self.backend(), &self.locator).await?;
        workspace.head("directory").shared().create().await
    }
}

/// Opens the folder that is to be the workspace.
pub(super) fn directory(
    path: PathBuf,
    chosen_state: Option<&Path>,
) -> Result<DirectoryChoice, BuildError> {
    check_folder(&path)?;
    let opened = in_first_state(chosen_state, |state| {
        DirectoryWorkspaceBackend::open(&path, state)
    });
    let backend = opened.map_err(|source| BuildError::Workspace {
        path,
        source: Box::new(source),
    })?;
    // The backend has refused paths that are no text.
    let locator = backend.path().to_string_lossy().into_owned();
    Ok(DirectoryChoice {
        backend: Arc::new(backend),
        locator,
    })
}

/// Opens the folders of the roots; they are held open as long as the agent lives.
pub(super) fn roots(
    given: Vec<(String, PathBuf, RootAccess)>,
    chosen_state: Option<&Path>,
) -> Result<WorkspaceRootSet, BuildError> {
    let mut set = WorkspaceRootSet::new();
    for (text, path, access) in given {
        let name = match RootName::new(&text) {
            Ok(name) => name,
            Err(source) => return Err(BuildError::InvalidPath { text, source }),
        };
        if set.access(&name).is_some() {
            return Err(BuildError::DuplicateRoot { name: text });
        }
        check_folder(&path)?;
        let opened = open_root(&path, chosen_state);
        let files = opened.map_err(|source| BuildError::Root {
            name: text,
            path,
            source: Box::new(source),
        })?;
        set = set
            .with_root(name, Arc::new(files), access)
            .map_err(BuildError::InvalidRoot)?;
    }
    Ok(set)
}

fn open_root(path: &Path, chosen_state: Option<&Path>) -> Result<DiskFileSystem, FileSystemError> {
    let folders = state::folders(chosen_state);
    let state = folders
        .iter()
        .find(|state| !state.starts_with(path))
        .unwrap_or(&folders[0]);
    DiskFileSystem::open(path, DiskOptions::new(state::locks(state)))
}

/// Opens with the first state folder that does not lie in what is opened.
fn in_first_state<T>(
    chosen_state: Option<&Path>,
    open: impl Fn(&Path) -> Result<T, WorkspaceError>,
) -> Result<T, WorkspaceError> {
    let mut folders = state::folders(chosen_state).into_iter();
    let last = folders
        .next_back()
        .expect("there is always one state folder");
    for state in folders {
        match open(&state) {
            Err(WorkspaceError::InvalidState { .. } | WorkspaceError::PermissionDenied { .. }) => {}
            outcome => return outcome,
        }
    }
    open(&last)
}

/// Parses the files that the agent brings, and checks that they can all be files of one tree.
pub(super) fn seeds(given: Vec<(String, String, bool)>) -> Result<Vec<SeededFile>, BuildError> {
    let mut seeds = Vec::new();
    for (text, content, read_only) in given {
        let path = match WorkspacePath::parse(&text) {
            Ok(path) => path,
            Err(source) => return Err(BuildError::InvalidPath { text, source }),
        };
        seeds.push(if read_only {
            SeededFile::read_only(path, content)
        } else {
            SeededFile::new(path, content)
        });
    }
    let nothing = Arc::new(MemoryFileSystem::new());
    match SeededFileSystem::new(nothing, seeds.clone()) {
        Ok(_) => Ok(seeds),
        Err(SeedError::Duplicate { path }) => Err(BuildError::DuplicateFile {
            path: path.to_string(),
        }),
        Err(source) => Err(BuildError::InvalidFile(source)),
    }
}

fn check_folder(path: &Path) -> Result<(), BuildError> {
    match std::fs::metadata(path) {
        Ok(found) if found.is_dir() => Ok(()),
        Ok(_) => Err(BuildError::NotAFolder {
            path: path.to_owned(),
        }),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Err(BuildError::FolderMissing {
                path: path.to_owned(),
            })
        }
        Err(source) => Err(BuildError::FolderUnreadable {
            path: path.to_owned(),
            source,
        }),
    }
}
