//! Sessions as text, and sessions that are removed.

use std::sync::Arc;

use everruns_core::ids::SessionId;
use everruns_core::session::{EventQuery, Sequence, SessionQuery, SessionStore, StoreError};
use everruns_engine::engine::DeleteError;
use everruns_engine::transfer::ImportError;
use everruns_engine::{Engine, InMemorySessionStore, ResumeError, Session};
use futures::{FutureExt as _, StreamExt as _, TryStreamExt as _, stream};
use serde_json::json;

use crate::support::{Echo, Script, Step, Watched, agent_of, engine_over, head, memory};

async fn session(engine: &Engine) -> Session {
    let script = Script::new([
        Step::Call(vec![(
            "echo",
            json!({"text": "line\nbreak \u{2028} \u{1F980}"}),
        )]),
        Step::Say("Done."),
    ]);
    let agent = agent_of(&script).tool(Echo::default()).build().unwrap();
    let session = engine.create(agent).workspace(head(&memory(), "x").await);
    session.send_and_wait("Go.").await.unwrap();
    session.set_title("A title").await.unwrap();
    session
}

async fn exported(engine: &Engine, session: &Session) -> Vec<String> {
    engine
        .export(session.session_id())
        .try_collect()
        .await
        .unwrap()
}

#[tokio::test]
async fn an_imported_session_has_the_record_of_the_exported_one() {
    let (engine, other) = (Engine::new(), Engine::new());
    let session = session(&engine).await;
    let lines = exported(&engine, &session).await;
    assert!(lines.iter().all(|line| !line.contains('\n')));
    assert!(
        lines[0].starts_with(r#"{"everruns_session":1,"#),
        "{}",
        lines[0]
    );
    let id = other.import(lines.clone()).await.unwrap();
    assert_ne!(id, *session.session_id());
    let all = EventQuery::after(Sequence::START, 100);
    let here = engine
        .store()
        .events(session.session_id(), all)
        .await
        .unwrap();
    let there = other.store().events(&id, all).await.unwrap();
    assert_eq!(here, there);
    let record = other.store().session(&id).await.unwrap();
    assert_eq!(record.title.as_deref(), Some("A title"));
    // It has no head, so that it cannot go on.
    other.attach(&id, agent_of(&Script::default()).build().unwrap());
    let error = other.resume(&id).await.unwrap_err();
    assert!(matches!(error, ResumeError::NotBound { .. }), "{error}");
    // And what it is exported as differs in the session's line alone.
    let again: Vec<String> = other.export(&id).try_collect().await.unwrap();
    assert_eq!(again[1..], lines[1..]);
}

#[tokio::test]
async fn a_session_that_is_not_whole_is_not_imported() {
    let (engine, other) = (Engine::new(), Engine::new());
    let lines = exported(&engine, &session(&engine).await).await;
    let mut gap = lines.clone();
    gap.remove(3);
    let mut strange = lines.clone();
    strange[2] = r#"{"sequence":2,"at":1,"payload":{"type":"of_the_future"}}"#.to_owned();
    let mut newer = lines.clone();
    newer[0] = newer[0].replace(r#""everruns_session":1"#, r#""everruns_session":2"#);
    let error = other.import(gap).await.unwrap_err();
    assert!(
        matches!(error, ImportError::BadLine { line: 4, .. }),
        "{error}"
    );
    let error = other.import(strange).await.unwrap_err();
    assert!(
        matches!(error, ImportError::BadLine { line: 3, .. }),
        "{error}"
    );
    let error = other.import(newer).await.unwrap_err();
    assert!(
        matches!(error, ImportError::NewerFormat { found: 2 }),
        "{error}"
    );
    let error = other.import(lines[..4].to_vec()).await.unwrap_err();
    assert!(
        matches!(error, ImportError::Incomplete { found: 3, .. }),
        "{error}"
    );
    let error = other.import(Vec::new()).await.unwrap_err();
    assert!(matches!(error, ImportError::NotAnExport { .. }), "{error}");
    let sessions = other.sessions(SessionQuery::default());
    assert!(sessions.await.unwrap().sessions.is_empty());
}

#[tokio::test]
async fn a_whole_import_is_told_from_one_that_has_not_ended() {
    let (engine, other) = (Engine::new(), Engine::new());
    let mut lines = exported(&engine, &session(&engine).await).await;
    let mut header: serde_json::Value = serde_json::from_str(&lines[0]).unwrap();
    header["session"]["title"] = json!(null);
    lines[0] = header.to_string();
    let store = Arc::clone(other.store());
    let mut titles = Vec::new();
    let stream = stream::iter(lines).map(|line| {
        let recorded = store.sessions(SessionQuery::default()).now_or_never();
        let page = recorded.expect("memory is at hand").unwrap();
        titles.extend(page.sessions.into_iter().map(|one| one.title));
        Ok(line)
    });
    let id = other.import_stream(stream).await.unwrap();
    assert!(titles.len() > 3, "{titles:?}");
    for title in titles {
        assert_eq!(title.as_deref(), Some("(import not finished)"));
    }
    let record = other.store().session(&id).await.unwrap();
    assert_eq!(record.title.as_deref(), Some("imported session"));
}

/// An exported session, made longer by what its user said in one moment.
fn long(mut lines: Vec<String>, events: u64) -> Vec<String> {
    let mut header: serde_json::Value = serde_json::from_str(&lines[0]).unwrap();
    header["session"]["last_sequence"] = json!(events);
    lines[0] = header.to_string();
    for sequence in lines.len() as u64..=events {
        lines.push(format!(
            r#"{{"sequence":{sequence},"at":1,"payload":{{"type":"user_message","text":"message {sequence}"}}}}"#
        ));
    }
    lines
}

/// What was read is recorded while the rest is still to come: only a part of a long session is ever in memory.
#[tokio::test]
async fn an_import_records_what_it_has_read() {
    let (engine, other) = (Engine::new(), Engine::new());
    let lines = long(exported(&engine, &session(&engine).await).await, 2_000);
    let store = Arc::clone(other.store());
    let (mut read, mut most) = (0_u64, 0);
    let stream = stream::iter(lines.clone()).then(|line| {
        let recorded = store.sessions(SessionQuery::default()).now_or_never();
        let page = recorded.expect("memory is at hand").unwrap();
        let recorded = page.sessions.first().map_or(0, |one| one.last_sequence.0);
        most = most.max(read - recorded);
        read += 1;
        std::future::ready(Ok(line))
    });
    let id = other.import_stream(stream).await.unwrap();
    assert!(most < 300, "{most}");
    let again: Vec<String> = other.export(&id).try_collect().await.unwrap();
    assert!(
        again[1..] == lines[1..],
        "the events are those of the lines"
    );
}

#[tokio::test]
async fn of_a_session_that_cannot_be_read_to_its_end_nothing_is_recorded() {
    let (engine, other) = (Engine::new(), Engine::new());
    let lines = long(exported(&engine, &session(&engine).await).await, 1_000);
    let lines = lines.into_iter().take(900).map(Ok);
    let broken = std::io::Error::from(std::io::ErrorKind::BrokenPipe);
    let error = other.import_stream(stream::iter(lines.chain([Err(broken)])));
    let error = error.await.unwrap_err();
    assert!(matches!(error, ImportError::Unreadable(_)), "{error}");
    let sessions = other.sessions(SessionQuery::default()).await.unwrap();
    assert!(sessions.sessions.is_empty());
}

/// What an import leaves that came to no end is nobody's, and goes at once when it is deleted.
#[tokio::test]
async fn h55_what_a_dropped_import_leaves_can_be_deleted() {
    let (engine, other) = (Engine::new(), Engine::new());
    let lines = long(exported(&engine, &session(&engine).await).await, 1_000);
    let lines = stream::iter(lines.into_iter().take(900).map(Ok));
    let import = other.import_stream(lines.chain(stream::pending()));
    assert!(import.now_or_never().is_none());
    let left = other.sessions(SessionQuery::default()).await.unwrap();
    let id = left.sessions[0].id.clone();
    let title = left.sessions[0].title.as_deref();
    assert_eq!(title, Some("(import not finished) A title"));
    other.delete_session(&id, id.as_str()).await.unwrap();
    let left = other.sessions(SessionQuery::default()).await.unwrap();
    assert!(left.sessions.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_session_is_removed_when_its_id_is_repeated_and_nobody_has_it() {
    let store: Arc<dyn SessionStore> = Arc::new(InMemorySessionStore::new());
    let engine = engine_over(&store);
    let session = session(&engine).await;
    let id = session.session_id().clone();
    let error = engine.delete_session(&id, "yes").await.unwrap_err();
    assert!(matches!(error, DeleteError::NotConfirmed { .. }), "{error}");
    let error = engine.delete_session(&id, id.as_str()).await.unwrap_err();
    assert!(matches!(error, DeleteError::Open { .. }), "{error}");
    let busy = agent_of(&Script::new([Step::Hang("Well")]));
    let busy = engine.create(busy.build().unwrap());
    let turn = busy.send("Think.").await.unwrap();
    let other = busy.session_id();
    let elsewhere = engine_over(&store);
    let deleted = elsewhere.delete_session(other, other.as_str()).await;
    let error = deleted.unwrap_err();
    let held = matches!(&error, DeleteError::Store(StoreError::LeaseHeld { .. }));
    assert!(held, "{error}");
    busy.cancel().await;
    turn.wait().await.unwrap();
    session.close().await;
    let head = session.workspace_head().unwrap();
    drop(session);
    engine.delete_session(&id, id.as_str()).await.unwrap();
    let error = engine.delete_session(&id, id.as_str()).await.unwrap_err();
    let gone = matches!(&error, DeleteError::Store(StoreError::NotFound { .. }));
    assert!(gone, "{error}");
    // The head is there, and free.
    let agent = agent_of(&Script::default()).build().unwrap();
    engine.create(agent).workspace(head).start().await.unwrap();
}

/// A recorded session that nobody has open.
async fn closed(engine: &Engine) -> SessionId {
    let session = session(engine).await;
    session.close().await;
    session.session_id().clone()
}

/// Nothing of a turn has the session open any more when its end is told.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_can_be_deleted_as_soon_as_its_turn_is_told() {
    let engine = Engine::new();
    for round in 0..300 {
        let agent = agent_of(&Script::new([Step::Say("Done.")]))
            .build()
            .unwrap();
        let session = engine.create(agent).workspace(head(&memory(), "x").await);
        session.send_and_wait("Go.").await.unwrap();
        let id = session.session_id().clone();
        drop(session);
        match engine.delete_session(&id, id.as_str()).await {
            // An idle session keeps its lease for a moment.
            Ok(()) | Err(DeleteError::Store(StoreError::LeaseHeld { .. })) => {}
            Err(error) => panic!("round {round}: {error}"),
        }
    }
}

/// The lease of a deletion is in nobody's way after it, wherever its caller went away.
#[tokio::test]
async fn a_deletion_whose_caller_goes_away_at_any_await_is_made_to_its_end() {
    let mut polls = 0;
    loop {
        let watched = Watched::new();
        let store: Arc<dyn SessionStore> = Arc::clone(&watched) as _;
        let engine = engine_over(&store);
        let id = closed(&engine).await;
        watched.be_slow();
        let mut deleting = Box::pin(engine.delete_session(&id, id.as_str()));
        let mut ended = false;
        for _ in 0..polls {
            if (&mut deleting).now_or_never().is_some() {
                ended = true;
                break;
            }
            tokio::task::yield_now().await;
        }
        drop(deleting);
        // A deletion that had not begun leaves the session as it is.
        let begun = polls > 0;
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        let after = engine.delete_session(&id, id.as_str()).await;
        match after {
            Ok(()) => assert!(!begun, "{polls}"),
            Err(DeleteError::Store(StoreError::NotFound { .. })) => assert!(begun, "{polls}"),
            Err(error) => panic!("after {polls} polls: {error}"),
        }
        if ended {
            break;
        }
        polls += 1;
    }
    assert!(polls > 3, "there was nothing to wait for");
}

#[tokio::test]
async fn a_deletion_whose_answers_are_lost_leaves_no_lease() {
    let watched = Watched::new();
    let store: Arc<dyn SessionStore> = Arc::clone(&watched) as _;
    let engine = engine_over(&store);
    let id = closed(&engine).await;
    watched.lose_leases(3);
    engine.delete_session(&id, id.as_str()).await.unwrap();
    let error = engine.delete_session(&id, id.as_str()).await.unwrap_err();
    let gone = matches!(&error, DeleteError::Store(StoreError::NotFound { .. }));
    assert!(gone, "{error}");
}
