//! A session that goes on after its engine is gone, on exactly the head it had.

use std::sync::Arc;

use everruns::{Engine, LocalGitWorkspace, Simulated, Workspace};

use crate::Outcome;
use crate::git::{make_repository, writer};

pub async fn run() -> Outcome {
    let folder = tempfile::tempdir()?;
    let repository = folder.path().join("project");
    make_repository(&repository)?;
    let sessions = folder.path().join("sessions");
    let state = folder.path().join("state");

    let (session_id, head_id) = {
        let backend = Arc::new(LocalGitWorkspace::new(&state)?);
        let workspace = Workspace::open(backend, repository.to_string_lossy()).await?;
        let head = workspace.head("durable").create().await?;
        let engine = Engine::local(&sessions).await?;
        let session = engine.create(writer()?).workspace(head.clone()).start().await?;
        assert!(session.send_and_wait("Write the note.").await?.success);
        session.close().await;
        (session.session_id().clone(), head.id().clone())
    };

    let engine = Engine::local(&sessions).await?;
    let backend = Arc::new(LocalGitWorkspace::new(&state)?);
    let agent = everruns::Agent::builder()
        .instructions("Work in the selected project head.")
        .provider(Simulated::new().say("I am still here."))
        .model("simulated")
        .workspace_backend(backend)
        .build()?;
    engine.attach(session_id.clone(), agent);
    let session = engine.resume(&session_id).await?;
    let head = session.workspace_head().ok_or("a resumed session has its head")?;
    assert_eq!(head.id(), &head_id);
    let turn = session.send_and_wait("Are you there?").await?;
    assert_eq!(turn.response, "I am still here.");
    println!("durable: session {session_id} resumed on head {head_id}");
    Ok(())
}
