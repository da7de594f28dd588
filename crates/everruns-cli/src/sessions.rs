//! The sessions in the state folder.

use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;

use everruns::session::StoreError;
use everruns::{Engine, SqliteSessionStore};

use crate::failure::Failure;
use crate::hints::of_state;
use crate::repository;
use crate::state::StateFolder;

/// An engine on the state folder's database, as [`Engine::local`] has it, which can be closed.
pub(crate) struct Sessions {
    engine: Engine,
    store: SqliteSessionStore,
}

impl Sessions {
    /// Opens the database, in a folder where the heads' records may be, too: not inside a repository or a head.
    pub(crate) async fn open(state: &StateFolder) -> Result<Self, Failure> {
        repository::backend(state).await?;
        Self::open_alone(state).await
    }

    /// Opens the database, and doesn't look at the heads' records.
    pub(crate) async fn open_alone(state: &StateFolder) -> Result<Self, Failure> {
        let opened = SqliteSessionStore::open(state.database()).await;
        let store = opened.map_err(|error| of_state(error.into(), state.path()))?;
        let engine = Engine::builder().store(Arc::new(store.clone())).build();
        Ok(Self { engine, store })
    }

    /// Reads the whole database and checks that it is sound.
    pub(crate) async fn check(&self) -> Result<(), StoreError> {
        self.store.check_integrity().await
    }

    /// Writes a copy of the whole database to `target`, which must not exist.
    pub(crate) async fn back_up(&self, target: &Path) -> Result<(), StoreError> {
        self.store.backup(target).await
    }

    /// Leaves everything in one file: nothing beside it has to be copied with it.
    pub(crate) async fn close(self) {
        self.store.close().await;
    }
}

impl Deref for Sessions {
    type Target = Engine;

    fn deref(&self) -> &Engine {
        &self.engine
    }
}
