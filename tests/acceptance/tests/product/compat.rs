//! The deprecated names forward, and the framework emits the provider-named errors.
#![expect(deprecated, reason = "the deprecated names are what is tested")]

use std::sync::Arc;

use everruns::compat::{
    AgentBuilderCompat as _, LocalGitWorkspaceProvider, WorkspaceHeadCompat as _,
    WorkspaceProvider, WorkspaceProviderId,
};
use everruns::{
    Agent, AgentBuilder, BuildError, Engine, LocalGitWorkspace, MemoryWorkspaceBackend,
    ResumeError, SessionEnvironmentError, SessionError, Simulated, Workspace, WorkspaceBackend,
    WorkspaceBackendId, WorkspaceError, WorkspaceHead,
};
use everruns_testkit::git::GitFixture;

fn agent() -> AgentBuilder {
    Agent::builder()
        .provider(Simulated::new().say("Done.").repeat())
        .model("simulated")
}

/// Proves C25
#[tokio::test]
async fn c25_the_deprecated_names_forward() {
    let project = GitFixture::sample();
    let provider: LocalGitWorkspaceProvider =
        LocalGitWorkspace::new(project.beside("state")).unwrap();
    let provider: Arc<dyn WorkspaceProvider> = Arc::new(provider);
    let same: Arc<dyn WorkspaceBackend> = Arc::clone(&provider);
    let workspace = Workspace::open(same, project.path().to_str().unwrap())
        .await
        .unwrap();
    let head = workspace.head("old names").create().await.unwrap();
    assert!(Arc::ptr_eq(head.provider(), head.backend()));
    assert!(Arc::ptr_eq(head.provider(), &provider));
    let id: WorkspaceProviderId = WorkspaceBackendId::new("local-git").unwrap();
    assert_eq!(&id, provider.id());
    assert_eq!(head.binding().provider_id, id);

    // Registered under the old name, it serves a resume in another engine on the same store.
    let folder = project.beside("sessions");
    let first = Engine::local(&folder).await.unwrap();
    let session = first
        .create(agent().build().unwrap())
        .workspace(head.clone())
        .start()
        .await
        .unwrap();
    session.close().await;
    let second = Engine::local(&folder).await.unwrap();
    second.attach(
        session.session_id(),
        agent().workspace_provider(provider).build().unwrap(),
    );
    let resumed = second.resume(session.session_id()).await.unwrap();
    assert_eq!(resumed.workspace_head().unwrap().id(), head.id());
}

/// Proves C25
#[tokio::test]
async fn c25_the_framework_emits_the_provider_named_errors() {
    let project = GitFixture::sample();
    let git = || Arc::new(LocalGitWorkspace::new(project.beside("state")).unwrap());
    let twice = agent()
        .workspace_backend(git())
        .workspace_backend(git())
        .build();
    assert!(
        matches!(twice, Err(BuildError::DuplicateWorkspaceProvider { .. })),
        "{twice:?}"
    );

    let workspace = Workspace::open(git(), project.path().to_str().unwrap())
        .await
        .unwrap();
    let head = workspace.head("conflict").create().await.unwrap();
    let engine = Engine::local(project.beside("sessions")).await.unwrap();
    let other = agent().workspace_backend(git()).build().unwrap();
    let refused = engine.create(other).workspace(head.clone()).start().await;
    assert!(
        matches!(
            refused,
            Err(SessionError::Environment(
                SessionEnvironmentError::ProviderConflict { .. }
            ))
        ),
        "{refused:?}"
    );

    let session = engine
        .create(agent().build().unwrap())
        .workspace(head.clone())
        .start()
        .await
        .unwrap();
    session.close().await;
    let later = Engine::local(project.beside("sessions")).await.unwrap();
    later.attach(session.session_id(), agent().build().unwrap());
    let refused = later.resume(session.session_id()).await;
    assert!(
        matches!(
            refused,
            Err(ResumeError::WorkspaceProviderUnavailable { .. })
        ),
        "{refused:?}"
    );

    let memory: Arc<dyn WorkspaceBackend> = Arc::new(MemoryWorkspaceBackend::new());
    let refused = WorkspaceHead::reopen(memory, &head.binding()).await;
    assert!(
        matches!(refused, Err(WorkspaceError::ProviderUnavailable { .. })),
        "{refused:?}"
    );
    let failed = WorkspaceError::backend("do something", "a reason");
    assert!(
        matches!(failed, WorkspaceError::Provider { .. }),
        "{failed:?}"
    );
}
