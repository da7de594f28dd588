use bytes::Bytes;
use everruns_core::file_system::{FileKind, FileSystemError};
use everruns_core::path::WorkspacePath;

/// A tree that can be searched: folders are opened one from the other, by name, without following links.
///
/// Every method may block, and is called from two threads at once. `path` is where the caller stands; it is for messages only.
pub trait SearchSource: Send + Sync + 'static {
    /// An open folder.
    type Folder: Send + Sync;

    /// Opens the folder at `path`, following links that stay inside.
    ///
    /// # Errors
    /// As [`SessionFileSystem::list`](everruns_core::file_system::SessionFileSystem::list).
    fn open(&self, path: &WorkspacePath) -> Result<Self::Folder, FileSystemError>;

    /// The entries of `folder`, sorted by name in byte order, without `.git` and temporary files.
    ///
    /// # Errors
    /// When the folder cannot be read.
    fn entries(
        &self,
        folder: &Self::Folder,
        path: &WorkspacePath,
    ) -> Result<Vec<SourceEntry>, FileSystemError>;

    /// Opens the folder `name` in `folder`; `None` when it is gone or no folder any more.
    ///
    /// # Errors
    /// When the folder cannot be opened.
    fn enter(
        &self,
        folder: &Self::Folder,
        name: &str,
        path: &WorkspacePath,
    ) -> Result<Option<Self::Folder>, FileSystemError>;

    /// Reads the file `name` in `folder`, unless it is larger than `limit` bytes.
    ///
    /// # Errors
    /// When the file cannot be read.
    fn read(
        &self,
        folder: &Self::Folder,
        name: &str,
        path: &WorkspacePath,
        limit: u64,
    ) -> Result<SourceFile, FileSystemError>;
}

/// A name in a folder and what it stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceEntry {
    /// The name.
    pub name: String,
    /// What it stands for.
    pub kind: FileKind,
}

/// What became of reading a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceFile {
    /// Its bytes.
    Content(Bytes),
    /// It is larger than the limit.
    TooLarge,
    /// It is gone, or no regular file any more.
    Gone,
}
