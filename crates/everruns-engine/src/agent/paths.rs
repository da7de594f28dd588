//! What a builder was given as text and paths, checked.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use everruns_core::file_system::ContentVersion;
use everruns_core::path::{RootName, WorkspacePath};
use everruns_core::workspace::{WorkspaceBackend, WorkspaceError, WorkspaceHead};
use everruns_fs::{
    DiskFileSystem, DiskOptions, MemoryFileSystem, RootAccess, SeedError, SeededFile,
    SeededFileSystem, WorkspaceRootSet,
};

use super::BuildError;

/// The one folder that is the head of every session given no other.
#[derive(Debug)]
pub(crate) struct DirectoryChoice {
    backend: Arc<dyn WorkspaceBackend>,
}

impl DirectoryChoice {
    pub(crate) fn backend(&self) -> Arc<dyn WorkspaceBackend> {
        Arc::clone(&self.backend)
    }

    /// The folder as a head: the same one every time.
    pub(crate) async fn head(&self) -> Result<WorkspaceHead, WorkspaceError> {
        Err(WorkspaceError::backend(
            "open the folder",
            "it cannot be opened",
        ))
    }
}

pub(super) fn directory(path: PathBuf) -> Result<DirectoryChoice, BuildError> {
    check_folder(&path)?;
    let source = WorkspaceError::backend("open the folder", "it cannot be opened");
    Err(BuildError::Workspace { path, source })
}

/// Opens the folders of the roots; they are held open as long as the agent lives.
pub(super) fn roots(
    given: Vec<(String, PathBuf, RootAccess)>,
) -> Result<WorkspaceRootSet, BuildError> {
    let mut set = WorkspaceRootSet::new();
    for (name, path, access) in given {
        let name = RootName::new(&name)
            .map_err(|source| BuildError::InvalidPath { text: name, source })?;
        if set.access(&name).is_some() {
            return Err(BuildError::DuplicateRoot {
                name: name.to_string(),
            });
        }
        check_folder(&path)?;
        let files = DiskFileSystem::open(&path, DiskOptions::new(lock_folder(&path))).map_err(
            |source| BuildError::Root {
                name: name.to_string(),
                path,
                source,
            },
        )?;
        set = set
            .with_root(name, Arc::new(files), access)
            .map_err(BuildError::InvalidRoot)?;
    }
    Ok(set)
}

/// Where writers of the folder keep their locks: the same place for every process of this host, outside the folder.
fn lock_folder(path: &Path) -> PathBuf {
    let name = ContentVersion::of(path.as_os_str().as_encoded_bytes()).short();
    std::env::temp_dir().join(format!("everruns-locks-{name}"))
}

/// Parses the files that the agent brings, and checks that they can all be files of one tree.
pub(super) fn seeds(given: Vec<(String, String, bool)>) -> Result<Vec<SeededFile>, BuildError> {
    let mut seeds = Vec::new();
    for (text, content, read_only) in given {
        let path = WorkspacePath::parse(&text)
            .map_err(|source| BuildError::InvalidPath { text, source })?;
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
