//! The example passes the public suites.

use std::sync::Arc;

use everruns_core::workspace::{Workspace, WorkspaceBackend};
use everruns_testkit::conformance::{file_system, workspace_backend};
use tempfile::tempdir;

use crate::journal::JournalBackend;

/// Proves C23
#[tokio::test(flavor = "multi_thread")]
async fn c23_a_custom_backend_passes_the_backend_suite() {
    workspace_backend::check(|| async {
        let state = Arc::new(tempdir().unwrap());
        let backend = JournalBackend::open(state.path()).unwrap();
        workspace_backend::Subject::new(Arc::new(backend), "project")
            .also_at("  project ")
            .other_workspace("another project")
            .bad_locator("")
            .restarting(move || {
                let again = JournalBackend::open(state.path()).unwrap();
                async { Arc::new(again) as Arc<dyn WorkspaceBackend> }
            })
    })
    .await;
}

/// Proves C23
#[tokio::test(flavor = "multi_thread")]
async fn c23_its_file_system_passes_the_file_system_suite() {
    let options = file_system::Options::default()
        .without_ignore_files()
        .without_executables()
        .without_links();
    file_system::check(options, || async {
        let state = tempdir().unwrap();
        let backend: Arc<dyn WorkspaceBackend> =
            Arc::new(JournalBackend::open(state.path()).unwrap());
        let workspace = Workspace::open(backend, "project").await.unwrap();
        let head = workspace.head("head").create().await.unwrap();
        file_system::Subject::new(head.file_system()).keeping(state)
    })
    .await;
}
