use std::ops::Deref;

use super::EngineBuilder;

/// Makes and resumes sessions over one store. A cheap handle that can be cloned.
///
/// It dereferences to the engine proper, which has `create`, `attach`, `resume`, `sessions` and `store`.
#[derive(Clone, Debug, Default)]
pub struct Engine(everruns_engine::Engine);

impl Engine {
    /// An engine whose sessions end with the process.
    pub fn new() -> Self {
        Self::default()
    }

    /// An engine whose sessions are kept in the file `sessions.db` of the folder `dir`, which is made when it is missing.
    ///
    /// Several processes may use one folder at once.
    ///
    /// # Errors
    /// As [`SqliteSessionStore::open`](everruns_store::SqliteSessionStore::open): a newer schema, a file that is
    /// no database, or a folder that cannot be written; the file is left as it is.
    #[cfg(feature = "sqlite")]
    pub async fn local(
        dir: impl AsRef<std::path::Path> + Send,
    ) -> Result<Self, everruns_core::session::StoreError> {
        let file = dir.as_ref().join("sessions.db");
        let store = everruns_store::SqliteSessionStore::open(file).await?;
        Ok(Self::builder().store(std::sync::Arc::new(store)).build())
    }

    /// Begins an engine.
    pub fn builder() -> EngineBuilder {
        EngineBuilder::default()
    }
}

impl Deref for Engine {
    type Target = everruns_engine::Engine;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl From<everruns_engine::Engine> for Engine {
    fn from(engine: everruns_engine::Engine) -> Self {
        Self(engine)
    }
}
