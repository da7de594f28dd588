//! An engine knows nothing of the example, and works with it as with any other backend.

use std::path::Path;
use std::sync::Arc;

use everruns::{
    Agent, Engine, ResumeError, Simulated, Workspace, WorkspaceBackend, WorkspacePolicy,
};
use everruns_core::file_system::SessionFileSystemExt as _;
use serde_json::json;
use tempfile::tempdir;

use crate::journal::JournalBackend;

fn agent(backend: Option<&Arc<dyn WorkspaceBackend>>) -> Agent {
    let write = json!({"path": "notes/today.txt", "content": "written by a model\n"});
    let builder = Agent::builder()
        .provider(Simulated::new().call("write_file", write).say("Done."))
        .model("scripted")
        .workspace_policy(WorkspacePolicy::read_write());
    match backend {
        Some(backend) => builder.workspace_backend(Arc::clone(backend)),
        None => builder,
    }
    .build()
    .unwrap()
}

fn open(state: &Path) -> Arc<dyn WorkspaceBackend> {
    Arc::new(JournalBackend::open(state).unwrap())
}

/// Proves C23: files, claim and resume all go through the traits
#[tokio::test(flavor = "multi_thread")]
async fn c23_an_engine_works_and_resumes_on_a_custom_backend() {
    let (journal, sessions) = (tempdir().unwrap(), tempdir().unwrap());
    let (session_id, head_id) = {
        let backend = open(journal.path());
        let workspace = Workspace::open(Arc::clone(&backend), "project")
            .await
            .unwrap();
        let head = workspace.head("feature").create().await.unwrap();
        let engine = Engine::local(sessions.path()).await.unwrap();
        let session = engine.create(agent(Some(&backend))).workspace(head.clone());
        let session = session.start().await.unwrap();
        let turn = session.send_and_wait("Write a note.").await.unwrap();
        assert!(turn.success, "{turn:?}");
        let text = head
            .file_system()
            .read_all("notes/today.txt")
            .await
            .unwrap();
        assert_eq!(text.as_ref(), b"written by a model\n");
        assert!(head.status().await.unwrap().dirty);

        let second = engine
            .create(agent(Some(&backend)))
            .workspace(head.clone())
            .start()
            .await;
        assert!(second.is_err(), "an isolated head was bound twice");
        let ids = (session.session_id().clone(), head.id().clone());
        session.close().await;
        ids
    };

    let engine = Engine::local(sessions.path()).await.unwrap();
    engine.attach(&session_id, agent(None));
    let without = engine.resume(&session_id).await;
    assert!(
        matches!(
            without,
            Err(ResumeError::WorkspaceProviderUnavailable { .. })
        ),
        "{without:?}"
    );
    engine.attach(&session_id, agent(Some(&open(journal.path()))));
    let resumed = engine.resume(&session_id).await.unwrap();
    let head = resumed.workspace_head().unwrap();
    assert_eq!(*head.id(), head_id);
    let text = head
        .file_system()
        .read_all("notes/today.txt")
        .await
        .unwrap();
    assert_eq!(text.as_ref(), b"written by a model\n");
}
