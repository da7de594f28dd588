use std::sync::Arc;

use everruns_core::session::SessionStore;
use everruns_store::RetryPolicy;

use super::child::{Child, TARGET, TEST};

/// Where one test's sessions are: an empty database of its own, also for the processes that it starts.
pub(crate) struct Place {
    pub(crate) target: String,
    /// The full name of the test, with which its binary is run again.
    test: &'static str,
    /// Whether this process is a child of the test.
    pub(crate) is_child: bool,
    #[cfg(feature = "sqlite")]
    _folder: Option<tempfile::TempDir>,
    #[cfg(feature = "postgres")]
    _server: Option<super::server::Server>,
}

impl Place {
    fn new(target: String, test: &'static str) -> Self {
        Self {
            target,
            test,
            is_child: false,
            #[cfg(feature = "sqlite")]
            _folder: None,
            #[cfg(feature = "postgres")]
            _server: None,
        }
    }

    /// The place of the parent, when this process is a child of the test.
    fn inherited(test: &'static str) -> Option<Self> {
        let target = std::env::var(TARGET).ok()?;
        (std::env::var(TEST).ok()?.as_str() == test).then(|| Self {
            is_child: true,
            ..Self::new(target, test)
        })
    }

    #[cfg(feature = "sqlite")]
    pub(crate) fn sqlite(test: &'static str) -> Self {
        Self::inherited(test).unwrap_or_else(|| {
            let folder = tempfile::tempdir().unwrap();
            let file = folder.path().join("sessions.db");
            Self {
                _folder: Some(folder),
                ..Self::new(file.to_str().unwrap().to_owned(), test)
            }
        })
    }

    /// `None` when there is no server on this machine; a failure in CI.
    #[cfg(feature = "postgres")]
    pub(crate) async fn postgres(test: &'static str) -> Option<Self> {
        if let Some(place) = Self::inherited(test) {
            return Some(place);
        }
        let server = super::server::Server::start().await?;
        Some(Self {
            _server: Some(server.clone()),
            ..Self::new(server.fresh_database().await, test)
        })
    }

    pub(crate) async fn open(&self) -> Arc<dyn SessionStore> {
        self.open_with(RetryPolicy::default()).await
    }

    pub(crate) async fn open_with(&self, policy: RetryPolicy) -> Arc<dyn SessionStore> {
        open(&self.target, policy).await
    }

    /// Runs this test again in a process of its own, with this argument.
    pub(crate) fn spawn(&self, argument: &str) -> Child {
        Child::spawn(self.test, &self.target, argument)
    }
}

pub(crate) async fn open(target: &str, policy: RetryPolicy) -> Arc<dyn SessionStore> {
    #[cfg(feature = "postgres")]
    if target.starts_with("postgres://") {
        let store = everruns_store::PostgresSessionStore::connect_with(target, policy);
        return Arc::new(store.await.unwrap());
    }
    #[cfg(feature = "sqlite")]
    return Arc::new(
        everruns_store::SqliteSessionStore::open_with(target, policy)
            .await
            .unwrap(),
    );
    #[cfg(not(feature = "sqlite"))]
    unreachable!("no store for {target} with {policy:?}")
}
