//! An older backup of the records, while the heads have gone on.

use std::sync::Arc;

use everruns::model::Message;
use everruns::path::WorkspacePath;
use everruns::{
    Agent, Engine, LocalGitWorkspace, Session, Simulated, SqliteSessionStore, Workspace,
    WorkspaceBackend, WorkspacePolicy,
};
use everruns_testkit::git::GitFixture;
use serde_json::json;

fn agent(backend: &Arc<dyn WorkspaceBackend>, script: Simulated) -> Agent {
    Agent::builder()
        .provider(script)
        .model("simulated")
        .workspace_backend(Arc::clone(backend))
        .workspace_policy(WorkspacePolicy::read_write())
        .build()
        .unwrap()
}

fn writing(path: &str) -> Simulated {
    Simulated::new()
        .call("write_file", json!({"path": path, "content": "text\n"}))
        .say("Written.")
}

fn exists(session: &Session, path: &str) -> bool {
    let files = session.workspace_head().unwrap().file_system();
    let place = files.host_path(&WorkspacePath::parse(path).unwrap());
    place.unwrap().exists()
}

/// Proves H73
#[tokio::test]
async fn h73_heads_that_have_gone_on_since_a_backup_keep_everything() {
    let project = GitFixture::sample();
    let backend: Arc<dyn WorkspaceBackend> =
        Arc::new(LocalGitWorkspace::new(project.beside("state")).unwrap());
    let locator = project.path();
    let workspace = Workspace::open(Arc::clone(&backend), locator.to_str().unwrap())
        .await
        .unwrap();
    let store = SqliteSessionStore::open(project.beside("sessions.db"))
        .await
        .unwrap();
    let engine = Engine::builder().store(Arc::new(store.clone())).build();
    let old = engine
        .create(agent(
            &backend,
            writing("before.txt")
                .call(
                    "write_file",
                    json!({"path": "after.txt", "content": "text\n"}),
                )
                .say("Written, too."),
        ))
        .workspace(workspace.head("old").create().await.unwrap());
    old.send_and_wait("Write before.").await.unwrap();
    store.backup(project.beside("backup.db")).await.unwrap();
    old.send_and_wait("Write after.").await.unwrap();
    let new = engine
        .create(agent(&backend, writing("new.txt")))
        .workspace(workspace.head("new").create().await.unwrap());
    new.send_and_wait("Write.").await.unwrap();
    old.close().await;
    new.close().await;
    assert!(
        engine
            .unrecorded_heads(&workspace)
            .await
            .unwrap()
            .is_empty()
    );

    let restored = project.beside("restored.db");
    SqliteSessionStore::restore(project.beside("backup.db"), &restored)
        .await
        .unwrap();
    let store = SqliteSessionStore::open(&restored).await.unwrap();
    let engine = Engine::builder().store(Arc::new(store)).build();
    // The head whose session is not on record is found, and has its files.
    let unrecorded = engine.unrecorded_heads(&workspace).await.unwrap();
    assert_eq!(unrecorded.len(), 1);
    assert_eq!(unrecorded[0].name.as_str(), "new");
    assert!(exists(&new, "new.txt"));
    let head = workspace.open_head(&unrecorded[0].id).await.unwrap();
    let fork = head.fork("new again").await.unwrap();
    // The session that is on record goes on, on exactly its head, with what was written since.
    let id = old.session_id().clone();
    let model = Simulated::new().say("I go on.");
    engine.attach(&id, agent(&backend, model.clone()));
    let resumed = engine.resume(&id).await.unwrap();
    assert_eq!(resumed.inspect().await.unwrap().turns, 1);
    assert!(exists(&resumed, "before.txt") && exists(&resumed, "after.txt"));
    assert!(resumed.send_and_wait("Go on.").await.unwrap().success);
    // Its model has been told that the files may be newer than what it reads.
    let told = model.requests()[0].messages.iter().any(|message| {
        let Message::User { text } = message else {
            return false;
        };
        text.contains("restored from an older backup") && text.contains("present files")
    });
    assert!(told, "{:?}", model.requests());
    let again = engine
        .create(agent(&backend, Simulated::new().say("I go on, too.")))
        .workspace(fork);
    assert!(again.send_and_wait("Go on.").await.unwrap().success);
    assert!(exists(&again, "new.txt"));
}
