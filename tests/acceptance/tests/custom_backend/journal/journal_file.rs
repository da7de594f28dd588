//! The state folder: one file of records, replaced as a whole, and contents under their hash.

use std::fs::TryLockError;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use everruns_core::file_system::ContentVersion;
use everruns_core::workspace::WorkspaceError;

use super::records::{FORMAT, Records};

/// A state folder. Every call opens it anew, so that several processes may use it.
#[derive(Debug)]
pub(crate) struct JournalFile {
    folder: PathBuf,
}

impl JournalFile {
    pub(crate) fn open(folder: &Path) -> Result<Self, WorkspaceError> {
        let contents = folder.join("contents");
        std::fs::create_dir_all(&contents)
            .map_err(|error| WorkspaceError::io("make", contents, error))?;
        let journal = Self {
            folder: folder.to_owned(),
        };
        journal.load().map_err(|error| journal.failed(error))?;
        Ok(journal)
    }

    /// Runs `work` on the records and keeps what it changed, unless it fails. Nobody else changes them meanwhile.
    ///
    /// The work is done on a thread of its own: dropping the future neither interrupts it nor waits for it.
    pub(crate) async fn change<T, E>(
        self: &Arc<Self>,
        work: impl FnOnce(&mut Records, &Self) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<WorkspaceError> + Send + 'static,
    {
        let journal = Arc::clone(self);
        let task = tokio::task::spawn_blocking(move || {
            let _lock = journal.lock().map_err(|error| journal.failed(error))?;
            let mut records = journal.load().map_err(|error| journal.failed(error))?;
            let before = serde_json::to_vec(&records).map_err(|e| journal.failed(e.into()))?;
            let output = work(&mut records, &journal)?;
            let after = serde_json::to_vec(&records).map_err(|e| journal.failed(e.into()))?;
            if before != after {
                journal
                    .replace("journal.json", &after)
                    .map_err(|e| journal.failed(e))?;
            }
            Ok(output)
        });
        match task.await {
            Ok(result) => result,
            Err(error) => Err(WorkspaceError::backend("use the journal", error).into()),
        }
    }

    /// Keeps bytes under their hash.
    pub(crate) fn keep(&self, bytes: &[u8]) -> io::Result<ContentVersion> {
        let version = ContentVersion::of(bytes);
        let name = format!("contents/{version}");
        if !self.folder.join(&name).exists() {
            self.replace(&name, bytes)?;
        }
        Ok(version)
    }

    /// The bytes kept under this hash. They are never removed.
    pub(crate) fn content(&self, version: ContentVersion) -> io::Result<Bytes> {
        let path = self.folder.join(format!("contents/{version}"));
        Ok(std::fs::read(path)?.into())
    }

    fn load(&self) -> io::Result<Records> {
        let bytes = match std::fs::read(self.folder.join("journal.json")) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Records::default()),
            Err(error) => return Err(error),
        };
        let records: Records = serde_json::from_slice(&bytes)?;
        if records.format == FORMAT {
            Ok(records)
        } else {
            Err(io::Error::other(format!(
                "its format is {}, not {FORMAT}",
                records.format
            )))
        }
    }

    /// Readers see the old or the new bytes, also after a loss of power.
    fn replace(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let mut file = tempfile::NamedTempFile::new_in(&self.folder)?;
        file.write_all(bytes)?;
        file.as_file().sync_all()?;
        file.persist(self.folder.join(name))?;
        Ok(())
    }

    #[expect(
        clippy::disallowed_types,
        reason = "the folder is the backend's own, not a head's"
    )]
    fn lock(&self) -> io::Result<std::fs::File> {
        let file = std::fs::File::create(self.folder.join("lock"))?;
        file.lock()?;
        Ok(file)
    }

    /// A lock of this name that processes share, or that one has alone; `None` while others are in the way. It ends
    /// with the file, or with the process.
    #[expect(
        clippy::disallowed_types,
        reason = "the folder is the backend's own, not a head's"
    )]
    pub(crate) fn mark(
        &self,
        name: &str,
        alone: bool,
    ) -> Result<Option<std::fs::File>, WorkspaceError> {
        let attempt = || {
            let file = std::fs::File::create(self.folder.join(format!("{name}.use")))?;
            let locked = if alone {
                file.try_lock()
            } else {
                file.try_lock_shared()
            };
            match locked {
                Ok(()) => Ok(Some(file)),
                Err(TryLockError::WouldBlock) => Ok(None),
                Err(TryLockError::Error(error)) => Err(error),
            }
        };
        attempt().map_err(|error| self.failed(error))
    }

    fn failed(&self, error: io::Error) -> WorkspaceError {
        match error.kind() {
            io::ErrorKind::Other | io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof => {
                WorkspaceError::InvalidState {
                    path: self.folder.clone(),
                    reason: error.to_string(),
                }
            }
            _ => WorkspaceError::io("use", &self.folder, error),
        }
    }
}
