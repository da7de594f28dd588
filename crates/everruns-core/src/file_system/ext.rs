use async_trait::async_trait;
use bytes::Bytes;

use super::{
    ContentVersion, DirectoryEntry, FileSystemError, PageRequest, Precondition, ReadRange,
    SessionFileSystem,
};
use crate::path::WorkspacePath;

/// Conveniences over [`SessionFileSystem`]; implemented for all of them.
#[async_trait]
pub trait SessionFileSystemExt: SessionFileSystem {
    /// Reads the whole file at `path`, given as text.
    ///
    /// # Errors
    /// As [`SessionFileSystem::read`], and for a text that is no path.
    async fn read_all(&self, path: &str) -> Result<Bytes, FileSystemError> {
        let path = WorkspacePath::parse(path)?;
        Ok(self.read(&path, ReadRange::ALL).await?.into_bytes())
    }

    /// Writes the whole file at `path`, given as text, whatever was there.
    ///
    /// # Errors
    /// As [`SessionFileSystem::write`], and for a text that is no path.
    async fn write_all(
        &self,
        path: &str,
        bytes: impl Into<Bytes> + Send,
    ) -> Result<ContentVersion, FileSystemError> {
        let path = WorkspacePath::parse(path)?;
        self.write(&path, bytes.into(), Precondition::Any).await
    }

    /// The version of the file at `path`; `None` when there is nothing.
    ///
    /// # Errors
    /// As [`SessionFileSystem::read`], apart from `NotFound`.
    async fn version(
        &self,
        path: &WorkspacePath,
    ) -> Result<Option<ContentVersion>, FileSystemError> {
        match self
            .read(
                path,
                ReadRange {
                    offset: 0,
                    length: Some(0),
                },
            )
            .await
        {
            Ok(content) => Ok(Some(content.version())),
            Err(FileSystemError::NotFound { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// All entries of a folder, page after page. For folders known to be small.
    ///
    /// # Errors
    /// As [`SessionFileSystem::list`].
    async fn list_all(&self, dir: &WorkspacePath) -> Result<Vec<DirectoryEntry>, FileSystemError> {
        let mut entries = Vec::new();
        let mut request = PageRequest::default();
        loop {
            let page = self.list(dir, request.clone()).await?;
            entries.extend(page.entries);
            match page.next {
                Some(next) => request.after = Some(next),
                None => return Ok(entries),
            }
        }
    }
}

impl<T: SessionFileSystem + ?Sized> SessionFileSystemExt for T {}
