//! The store in memory.

use std::sync::Arc;

use everruns_core::session::SessionStore;
use everruns_engine::InMemorySessionStore;
use everruns_testkit::conformance::session_store;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_store_in_memory_conforms() {
    session_store::check(|| async {
        Arc::new(InMemorySessionStore::new()) as Arc<dyn SessionStore>
    })
    .await;
}
