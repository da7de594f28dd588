//! Forks whose session was made and whose source does not know, because its process ended in between.

use std::sync::Arc;

use bytes::Bytes;
use everruns_core::failpoint;
use everruns_core::file_system::{FileSystemError, Precondition, ReadRange};
use everruns_core::ids::{SessionId, WorkspaceId};
use everruns_core::path::WorkspacePath;
use everruns_core::session::{
    AgentSummary, AppendRequest, EventPayload, EventQuery, FencingToken, ForkRequest, LeaseOwner,
    NewSession, Sequence, SessionStore, StoreError,
};
use everruns_core::workspace::{WorkspaceBackend, WorkspaceHead};
use everruns_engine::{Agent, Engine, InMemorySessionStore, Session, SessionError};
use futures::FutureExt as _;

use super::support::{Script, Step, agent_of, engine_over, head, memory, recorded, rob};
use super::{Making, heads_and_sessions, made};

/// A fork was begun at the end of a turn that wrote a file, and its process has ended.
struct Scene {
    store: Arc<dyn SessionStore>,
    backend: Arc<dyn WorkspaceBackend>,
    source: SessionId,
    fork: SessionId,
    /// The fork's head.
    head: WorkspaceHead,
}

fn agent(backend: &Arc<dyn WorkspaceBackend>, steps: Vec<Step>) -> Agent {
    let agent = agent_of(&Script::new(steps)).tool(Making);
    agent
        .workspace_backend(Arc::clone(backend))
        .build()
        .unwrap()
}

impl Scene {
    async fn killed_at(step: &'static str) -> Self {
        let store: Arc<dyn SessionStore> = Arc::new(InMemorySessionStore::new());
        let backend = memory();
        let write = vec![
            Step::Call(vec![("make", serde_json::json!({}))]),
            Step::Say("Made."),
        ];
        let session = engine_over(&store)
            .create(agent(&backend, write))
            .workspace(head(&backend, "x").await);
        session.send_and_wait("Make it.").await.unwrap();
        let source = session.session_id().clone();
        let end = store.events(&source, EventQuery::last(1)).await.unwrap();
        failpoint::arm(step, || false);
        let forking = session.fork_at("forked", end.events[0].sequence);
        forking.await.unwrap_err();
        failpoint::disarm_all();
        let begun = recorded(&session).await.into_iter().rev();
        let fork = begun.into_iter().find_map(|event| match event {
            EventPayload::ForkBegun {
                session,
                checkpoint,
                ..
            } => {
                assert!(checkpoint.is_some(), "the head is to get older files");
                Some(session)
            }
            _ => None,
        });
        let own = session.workspace_head().unwrap();
        Self {
            head: forked(&backend, own.workspace_id()).await,
            fork: fork.unwrap(),
            source,
            store,
            backend,
        }
    }

    fn engine(&self, session: &SessionId) -> Engine {
        let engine = engine_over(&self.store);
        engine.attach(session, agent(&self.backend, vec![Step::Say("On.")]));
        engine
    }

    async fn delete(&self, session: &SessionId) {
        let engine = self.engine(session);
        let deleting = engine.delete_session(session, session.as_str());
        deleting.await.unwrap();
    }

    /// The user goes on in the fork's head.
    async fn work(&self) {
        let files = self.head.file_system();
        for (path, text) in [(made(), "changed"), (work(), "new")] {
            let bytes = Bytes::from_static(text.as_bytes());
            files.write(&path, bytes, Precondition::Any).await.unwrap();
        }
    }

    async fn assert_work_is_there(&self, case: &str) {
        let files = self.head.file_system();
        for (path, text) in [(made(), "changed"), (work(), "new")] {
            let read = files.read(&path, ReadRange::ALL).await;
            let read = read.unwrap_or_else(|error: FileSystemError| panic!("{case}: {error}"));
            assert_eq!(read.bytes().as_ref(), text.as_bytes(), "{case}: {path}");
        }
    }

    async fn assert_deleted(&self, case: &str) {
        let found = self.store.session(&self.fork).await;
        assert!(
            matches!(found, Err(StoreError::NotFound { .. })),
            "{case}: {found:?}"
        );
        let other = SessionId::new("ses_other").unwrap();
        self.head.claim(&other).await.unwrap();
    }

    /// As a restored backup has it at its end.
    async fn restore_record(&self) {
        let store = self.store.as_ref();
        let token = rob(store, &self.source, &LeaseOwner("backup".into())).await;
        append(
            store,
            &self.source,
            token.token,
            EventPayload::RecordRestored,
        )
        .await;
        let released = store.release_lease(&self.source, token.token).await;
        released.unwrap();
    }

    async fn resume_source(&self) -> Session {
        let session = self.engine(&self.source).resume(&self.source).await;
        session.unwrap()
    }
}

async fn forked(backend: &Arc<dyn WorkspaceBackend>, workspace: &WorkspaceId) -> WorkspaceHead {
    let heads = backend.heads(workspace).await.unwrap();
    let forked = heads.iter().find(|head| head.name.as_str() == "forked");
    let binding = backend.binding(workspace, &forked.unwrap().id);
    let binding = binding.await.unwrap();
    WorkspaceHead::reopen(Arc::clone(backend), &binding)
        .await
        .unwrap()
}

fn work() -> WorkspacePath {
    WorkspacePath::parse("work.txt").unwrap()
}

/// Whether the record says that the fork was made, if it says anything of its end.
async fn ended(session: &Session) -> Vec<bool> {
    let made = |event: EventPayload| match event {
        EventPayload::ForkEnded { made, .. } => Some(made),
        _ => None,
    };
    recorded(session)
        .await
        .into_iter()
        .filter_map(made)
        .collect()
}

pub(super) async fn check() {
    h61_a_deleted_fork_does_not_come_back_with_its_source().await;
    h61_a_deleted_fork_leaves_its_head_when_its_source_is_deleted().await;
    h61_a_fork_that_goes_on_keeps_its_work_when_its_source_learns_of_it().await;
    h61_a_fork_whose_deletion_failed_keeps_its_head().await;
    h61_a_fork_deleted_under_a_late_maker_leaves_its_head_free().await;
    h61_h73_a_fork_that_a_restored_record_had_begun_is_left_alone().await;
    h61_h73_a_rewind_that_a_restored_record_had_begun_is_left_alone().await;
}

/// The source goes on, says that the fork was made, and touches neither its head nor its id.
async fn h61_a_deleted_fork_does_not_come_back_with_its_source() {
    let scene = Scene::killed_at("engine.fork.after-session").await;
    scene.delete(&scene.fork).await;
    scene.work().await;
    let session = scene.resume_source().await;
    assert_eq!(ended(&session).await, [true]);
    scene.assert_work_is_there("resumed").await;
    scene.assert_deleted("resumed").await;
    assert!(session.send_and_wait("Go on.").await.unwrap().success);
    assert_eq!(ended(&session).await, [true], "once and for all");
    scene.assert_work_is_there("gone on").await;
}

/// Also where the backend, by which the head could be found, is not known.
async fn h61_a_deleted_fork_leaves_its_head_when_its_source_is_deleted() {
    for attached in [true, false] {
        let scene = Scene::killed_at("engine.fork.after-session").await;
        scene.delete(&scene.fork).await;
        scene.work().await;
        if attached {
            scene.delete(&scene.source).await;
        } else {
            let engine = engine_over(&scene.store);
            let deleting = engine.delete_session(&scene.source, scene.source.as_str());
            deleting.await.unwrap();
        }
        scene.assert_work_is_there("deleted").await;
        scene.assert_deleted("deleted").await;
        let (heads, sessions, _) = heads_and_sessions(&scene.store, &scene.backend).await;
        assert_eq!((heads.len(), sessions), (2, 0), "attached: {attached}");
    }
}

/// The files of the fork's place are brought into its head once, before its session is there.
async fn h61_a_fork_that_goes_on_keeps_its_work_when_its_source_learns_of_it() {
    let scene = Scene::killed_at("engine.fork.after-session").await;
    let fork = scene.engine(&scene.fork).resume(&scene.fork).await.unwrap();
    assert!(fork.send_and_wait("Go on.").await.unwrap().success);
    scene.work().await;
    let session = scene.resume_source().await;
    assert_eq!(ended(&session).await, [true]);
    scene.assert_work_is_there("gone on").await;
    let there = scene.store.session(&scene.fork).await.unwrap();
    assert_eq!(there.binding, Some(scene.head.binding()));
}

/// The deletion of the fork has ended between its steps.
async fn h61_a_fork_whose_deletion_failed_keeps_its_head() {
    let scene = Scene::killed_at("engine.fork.after-session").await;
    scene.work().await;
    failpoint::arm("engine.delete.after-release", || false);
    let engine = scene.engine(&scene.fork);
    let deleting = engine.delete_session(&scene.fork, scene.fork.as_str());
    deleting.await.unwrap_err();
    failpoint::disarm_all();
    let session = scene.resume_source().await;
    assert_eq!(ended(&session).await, [true]);
    scene.assert_work_is_there("still recorded").await;
    // The fork goes on where it was, or is deleted after all.
    engine.resume(&scene.fork).await.unwrap().close().await;
    scene.delete(&scene.fork).await;
    session.close().await;
    drop(session);
    scene.delete(&scene.source).await;
    scene.assert_work_is_there("deleted").await;
    scene.assert_deleted("deleted").await;
}

/// Another process has taken the source over and made the fork, which was deleted, before the first one goes on.
async fn h61_a_fork_deleted_under_a_late_maker_leaves_its_head_free() {
    let store: Arc<dyn SessionStore> = Arc::new(InMemorySessionStore::new());
    let backend = memory();
    let session = engine_over(&store)
        .create(agent(&backend, vec![Step::Say("Done.")]))
        .workspace(head(&backend, "x").await);
    session.send_and_wait("Work.").await.unwrap();
    let source = session.session_id().clone();
    let workspace = session.workspace_head().unwrap().workspace_id().clone();
    let others = (Arc::clone(&store), Arc::clone(&backend), workspace.clone());
    failpoint::arm("engine.fork.after-head", move || {
        let (store, backend, workspace) = &others;
        let other = make_and_delete(store.as_ref(), &source, backend, workspace);
        other
            .now_or_never()
            .expect("what is in memory waits for nothing");
        true
    });
    let error = session.fork("forked").await.unwrap_err();
    failpoint::disarm_all();
    assert!(matches!(error, SessionError::TakenOver { .. }), "{error}");
    let (heads, sessions, _) = heads_and_sessions(&store, &backend).await;
    assert_eq!((heads.len(), sessions), (2, 1));
    let other = SessionId::new("ses_other").unwrap();
    let left = forked(&backend, &workspace).await;
    left.claim(&other).await.unwrap();
}

/// What the other process does between two steps of the first one.
async fn make_and_delete(
    store: &dyn SessionStore,
    source: &SessionId,
    backend: &Arc<dyn WorkspaceBackend>,
    workspace: &WorkspaceId,
) {
    let token = rob(store, source, &LeaseOwner("the other".into()))
        .await
        .token;
    let last = store.events(source, EventQuery::last(1)).await.unwrap();
    let begun = &last.events[0];
    let EventPayload::ForkBegun {
        session, through, ..
    } = &begun.payload
    else {
        panic!("{begun:?}");
    };
    let request = ForkRequest {
        source: source.clone(),
        token,
        through: *through,
        session: NewSession {
            id: session.clone(),
            title: None,
            agent: AgentSummary::default(),
            created_at: begun.at,
        },
        binding: forked(backend, workspace).await.binding(),
        events: vec![EventPayload::Forked {
            from: source.clone(),
        }],
    };
    store.fork(request).await.unwrap();
    let ended = EventPayload::ForkEnded {
        session: session.clone(),
        made: true,
    };
    append(store, source, token, ended).await;
    store.release_lease(source, token).await.unwrap();
    store.delete(session, None).await.unwrap();
}

async fn append(
    store: &dyn SessionStore,
    session: &SessionId,
    token: FencingToken,
    event: EventPayload,
) {
    let record = store.session(session).await.unwrap();
    let request = AppendRequest {
        session: session.clone(),
        token,
        expected: record.last_sequence,
        idempotency_key: "the other's".to_owned(),
        at: record.updated_at,
        events: vec![event],
    };
    store.append(request).await.unwrap();
}

/// The records were restored from a backup that was made while a fork was under way. It came to its end after that, and there
/// has been work in its head; the record says neither.
async fn h61_h73_a_fork_that_a_restored_record_had_begun_is_left_alone() {
    let scene = Scene::killed_at("engine.fork.after-files").await;
    scene.work().await;
    scene.restore_record().await;
    let session = scene.resume_source().await;
    assert!(session.send_and_wait("Go on.").await.unwrap().success);
    assert!(ended(&session).await.is_empty());
    scene.assert_work_is_there("resumed").await;
    session.close().await;
    drop(session);
    scene.delete(&scene.source).await;
    scene.assert_work_is_there("deleted").await;
    let (heads, sessions, _) = heads_and_sessions(&scene.store, &scene.backend).await;
    assert_eq!((heads.len(), sessions), (2, 0));
}

/// The same of a rewind: the files are newer than the record, and stay.
async fn h61_h73_a_rewind_that_a_restored_record_had_begun_is_left_alone() {
    let scene = Scene::killed_at("engine.fork.after-session").await;
    let session = scene.resume_source().await;
    failpoint::arm("engine.rewind.after-intent", || false);
    session.rewind(Sequence(1)).await.unwrap_err();
    failpoint::disarm_all();
    session.close().await;
    drop(session);
    scene.restore_record().await;
    let session = scene.resume_source().await;
    assert!(session.send_and_wait("Go on.").await.unwrap().success);
    let files = session.workspace_head().unwrap().file_system();
    assert!(files.stat(&made()).await.is_ok(), "it was not taken back");
    let is_rewound = |event: &EventPayload| matches!(event, EventPayload::Rewound { .. });
    assert!(!recorded(&session).await.iter().any(is_rewound));
}
