//! The public suite, which every store passes.

#[cfg(feature = "sqlite")]
mod sqlite {
    use std::sync::Arc;

    use everruns_core::session::SessionStore;
    use everruns_store::{RetryPolicy, SqliteSessionStore};
    use everruns_testkit::conformance::session_store::{self, Subject};

    use crate::support::place;

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn passes_the_public_suite() {
        session_store::check(|| async {
            let folder = tempfile::tempdir().unwrap();
            let file = folder.path().join("sessions.db");
            let store: Arc<dyn SessionStore> =
                Arc::new(SqliteSessionStore::open(&file).await.unwrap());
            Subject::new(store).keeping(folder).restarting(move || {
                let file = file.to_str().unwrap().to_owned();
                async move { place::open(&file, RetryPolicy::default()).await }
            })
        })
        .await;
    }
}

#[cfg(feature = "postgres")]
mod postgres {
    use everruns_store::RetryPolicy;
    use everruns_testkit::conformance::session_store::{self, Subject};

    use crate::support::place;
    use crate::support::server::Server;

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn passes_the_public_suite() {
        let Some(server) = Server::start().await else {
            return;
        };
        session_store::check(|| async {
            let url = server.fresh_database().await;
            let store = place::open(&url, RetryPolicy::default()).await;
            Subject::new(store).restarting(move || {
                let url = url.clone();
                async move { place::open(&url, RetryPolicy::default()).await }
            })
        })
        .await;
    }
}
