use std::any::Any;
use std::fmt;
use std::sync::Arc;

use everruns_core::session::SessionStore;
use futures::FutureExt as _;
use futures::future::BoxFuture;

type Restart = Arc<dyn Fn() -> BoxFuture<'static, Arc<dyn SessionStore>> + Send + Sync>;

/// One fresh and empty store under test, with whatever must outlive it.
#[derive(Clone)]
pub struct Subject {
    pub(super) store: Arc<dyn SessionStore>,
    restart: Option<Restart>,
    keep: Vec<Arc<dyn Any + Send + Sync>>,
}

impl Subject {
    /// Puts `store` to the test.
    pub fn new(store: Arc<dyn SessionStore>) -> Self {
        Self {
            store,
            restart: None,
            keep: Vec::new(),
        }
    }

    /// Says how another process would open the same sessions. A durable store needs it.
    #[must_use]
    pub fn restarting<F, Fut>(mut self, open: F) -> Self
    where
        F: Fn() -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Arc<dyn SessionStore>> + Send + 'static,
    {
        self.restart = Some(Arc::new(move || open().boxed()));
        self
    }

    /// Keeps `value`, such as a temporary folder, until the check has ended.
    #[must_use]
    pub fn keeping(mut self, value: impl Any + Send + Sync) -> Self {
        self.keep.push(Arc::new(value));
        self
    }

    /// A second instance over the same sessions, if there can be one.
    pub(super) async fn second(&self) -> Option<Arc<dyn SessionStore>> {
        match &self.restart {
            Some(open) => Some(open().await),
            None => None,
        }
    }
}

impl From<Arc<dyn SessionStore>> for Subject {
    fn from(store: Arc<dyn SessionStore>) -> Self {
        Self::new(store)
    }
}

impl fmt::Debug for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subject")
            .field("store", &self.store)
            .field("restarts", &self.restart.is_some())
            .finish_non_exhaustive()
    }
}
