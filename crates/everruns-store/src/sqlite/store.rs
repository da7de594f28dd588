use std::fmt;
use std::path::Path;
use std::sync::Arc;

use everruns_core::session::StoreError;

use super::database::Database;
use super::open;
#[cfg(unix)]
use super::{backup, replace};
use crate::RetryPolicy;
use crate::operations::session_store;

/// Sessions in one SQLite file. Cheap to clone; the clones share their connections.
///
/// Any number of processes of one machine may open the file at once. An acknowledged change has been flushed to the
/// disk. A change whose future is dropped is finished nevertheless, or not begun.
#[derive(Clone)]
pub struct SqliteSessionStore {
    pub(super) database: Arc<Database>,
}

impl SqliteSessionStore {
    /// Opens the database at `path`, and makes it and its folder if there is none.
    ///
    /// # Errors
    /// `NewerSchema`, `CorruptDatabase`, `ReadOnly`: the file is as it was. `Busy` when others kept it locked;
    /// `Failed` for anything else.
    pub async fn open(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        Self::open_with(path, RetryPolicy::default()).await
    }

    /// As [`open`](Self::open), waiting for others as `policy` says.
    ///
    /// # Errors
    /// As for [`open`](Self::open).
    pub async fn open_with(
        path: impl AsRef<Path>,
        policy: RetryPolicy,
    ) -> Result<Self, StoreError> {
        let database = open::open(path.as_ref(), policy).await?;
        Ok(Self {
            database: Arc::new(database),
        })
    }

    /// Where the database is.
    pub fn location(&self) -> &Path {
        &self.database.location
    }

    /// Reads the whole database and checks that it is sound. Takes time in proportion to its size.
    ///
    /// # Errors
    /// `CorruptDatabase` with the first thing that is wrong; and the store's own.
    pub async fn check_integrity(&self) -> Result<(), StoreError> {
        self.database.check_integrity().await
    }

    /// Writes a copy of one moment to `target`, which must not exist, while the database is used by anyone.
    ///
    /// Dropping the future does not stop it. The copy is its owner's alone to read. A crash leaves no file of that name, at
    /// most one that begins with it and ends with `.part`.
    ///
    /// # Errors
    /// `FileExists`, and the store's own.
    #[cfg(unix)]
    pub async fn backup(&self, target: impl AsRef<Path>) -> Result<(), StoreError> {
        backup::back_up(&self.database, target.as_ref()).await
    }

    /// Makes a database at `target`, which must not exist, of a backup.
    ///
    /// Whoever still executes a session of the database before is fenced off. Heads have gone on since the backup, and
    /// nothing of theirs is changed or removed. The record of every session ends with
    /// [`RecordRestored`](everruns_core::session::EventPayload::RecordRestored), so that its model is told that the files
    /// may be newer than the conversation.
    ///
    /// # Errors
    /// `FileExists`, those of [`open`](Self::open) about the backup, and the store's own.
    #[cfg(unix)]
    pub async fn restore(
        backup: impl AsRef<Path>,
        target: impl AsRef<Path>,
    ) -> Result<(), StoreError> {
        let policy = RetryPolicy::default();
        backup::restore(backup.as_ref(), target.as_ref(), policy).await
    }

    /// As [`restore`](Self::restore), in the place of the database at `location`, if there is one. That one is kept as
    /// `aside`, which must not exist and is beside it, with its log when it is damaged; `false` when there was none.
    ///
    /// There is a database of that name all the time, the old one or the new one, whenever the process may end; and
    /// nobody else can use the old one meanwhile. Dropping the future does not stop it. A crash leaves at most the
    /// folder in which it worked, `location` with `.restoring` added, or a second name of a damaged database. In the folder
    /// is another copy of the backup, or the old database; the next call removes the copy, and gives the old one the name
    /// that it was to have. It removes nothing else.
    ///
    /// # Errors
    /// `InUse` when the database is open, here or elsewhere, or another call is at work in its folder; `FileExists`, also
    /// of a folder with that addition that is somebody else's; `HalfReplaced`; those of [`open`](Self::open) about the
    /// backup and, but for damage, about the database; and the store's own.
    #[cfg(unix)]
    pub async fn restore_over(
        backup: impl AsRef<Path>,
        location: impl AsRef<Path>,
        aside: impl AsRef<Path>,
    ) -> Result<bool, StoreError> {
        let policy = RetryPolicy::default();
        replace::replace(backup.as_ref(), location.as_ref(), aside.as_ref(), policy).await
    }

    /// Waits for running operations, then closes all connections, of the clones too.
    pub async fn close(&self) {
        self.database.close().await;
    }
}

impl fmt::Debug for SqliteSessionStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteSessionStore")
            .field("location", &self.database.location)
            .finish_non_exhaustive()
    }
}

session_store!(SqliteSessionStore);
