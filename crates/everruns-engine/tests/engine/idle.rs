//! What sessions that do nothing keep, and what it takes to go on with them.

use std::sync::Arc;
use std::time::Duration;

use everruns_core::session::SessionStore;
use everruns_engine::Session;

use crate::support::{Caching, Script, Watched, agent_of, engine_over, head, lengthen, memory};

/// A session whose events make it this long, closed and without a handle.
async fn closed_session(
    store: &Arc<dyn SessionStore>,
    events: u64,
) -> (everruns_core::ids::SessionId, everruns_engine::Agent) {
    let backend = memory();
    let script = Script::default();
    let agent = agent_of(&script).workspace_backend(Arc::clone(&backend));
    let agent = agent.build().unwrap();
    let session = engine_over(store)
        .create(agent.clone())
        .workspace(head(&backend, "long").await);
    let session = session.start().await.unwrap();
    session.close().await;
    let id = session.session_id().clone();
    lengthen(store.as_ref(), &id, events).await;
    (id, agent)
}

async fn resumed(store: &Arc<dyn SessionStore>, events: u64) -> Session {
    let (id, agent) = closed_session(store, events).await;
    let engine = engine_over(store);
    engine.attach(&id, agent);
    engine.resume(&id).await.unwrap()
}

/// The calls of one resume, and the rows that were read.
async fn resume_costs(events: u64) -> (Vec<&'static str>, [u32; 3]) {
    let watched = Watched::new();
    let store: Arc<dyn SessionStore> = Arc::clone(&watched) as _;
    let (id, agent) = closed_session(&store, events).await;
    let engine = engine_over(&store);
    engine.attach(&id, agent);
    watched.forget_calls();
    drop(engine.resume(&id).await.unwrap());
    (watched.calls(), watched.cost())
}

#[tokio::test]
async fn resuming_a_hundred_thousand_events_reads_what_a_hundred_take() {
    let short = resume_costs(100).await;
    let long = resume_costs(100_000).await;
    assert_eq!(short, long);
    assert_eq!(short.0, ["lease", "append"]);
    let [reads, rows_read, rows_written] = short.1;
    assert!(
        reads <= 3 && rows_read <= 32 && rows_written == 1,
        "{short:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn an_idle_session_drops_a_long_conversation_and_reads_it_again_in_pages() {
    let watched = Watched::new();
    let store: Arc<dyn SessionStore> = Arc::clone(&watched) as _;
    let session = resumed(&store, 1_000).await;
    session.send_and_wait("Go on.").await.unwrap();
    watched.forget_calls();
    session.send_and_wait("And again.").await.unwrap();
    assert_eq!(watched.cost()[1], 0, "it is still there");

    tokio::time::sleep(Duration::from_secs(15)).await;
    watched.forget_calls();
    let turn = session.send_and_wait("After a while.").await.unwrap();
    assert!(turn.success);
    assert_eq!(turn.number, 253);
    let [reads, rows, _] = watched.cost();
    assert!(rows >= 1_000, "it was dropped, and is read again: {rows}");
    assert!(
        reads >= 4 && rows <= 1_100,
        "{rows} rows in {reads} bounded reads"
    );

    session.close().await;
    watched.forget_calls();
    let inspection = session.inspect().await.unwrap();
    assert_eq!(inspection.turns, 253, "which is told without reading");
    assert_eq!(watched.cost()[1], 0);
    session.send_and_wait("After it was closed.").await.unwrap();
    assert!(watched.cost()[1] >= 1_000);
}

#[tokio::test(start_paused = true)]
async fn an_idle_session_keeps_a_short_conversation() {
    let watched = Watched::new();
    let store: Arc<dyn SessionStore> = Arc::clone(&watched) as _;
    let session = resumed(&store, 8).await;
    session.send_and_wait("Go on.").await.unwrap();
    tokio::time::sleep(Duration::from_secs(15)).await;
    watched.forget_calls();
    session.send_and_wait("After a while.").await.unwrap();
    assert_eq!(watched.cost()[1], 0);
}

/// The task that watches over a session sleeps long while it is idle; a turn must not lose its lease for that.
#[tokio::test(start_paused = true)]
async fn a_turn_after_a_pause_has_its_lease_renewed() {
    use crate::support::Step;
    use tokio::sync::Notify;

    let watched = Watched::new();
    let store: Arc<dyn SessionStore> = Arc::clone(&watched) as _;
    let backend = memory();
    let go = Arc::new(Notify::new());
    let script = Script::new([Step::Say("x".repeat(10_000).leak())]);
    script.then(Step::When(Arc::clone(&go), "Late."));
    let agent = agent_of(&script).build().unwrap();
    let session = engine_over(&store)
        .create(agent)
        .workspace(head(&backend, "h").await);
    session.send_and_wait("Speak.").await.unwrap();
    tokio::time::sleep(Duration::from_secs(2)).await;
    let pending = session.send("Take your time.").await.unwrap();
    watched.forget_calls();
    tokio::time::sleep(Duration::from_secs(22)).await;
    let renewed = watched
        .calls()
        .iter()
        .filter(|call| **call == "lease")
        .count();
    assert!((3..=5).contains(&renewed), "renewed {renewed} times");
    go.notify_one();
    assert!(pending.wait().await.unwrap().success);
}

/// What a head keeps only to be faster costs memory while nobody uses it.
#[tokio::test(start_paused = true)]
async fn an_idle_session_lets_its_head_forget_what_it_can_find_again() {
    let (caching, head) = Caching::over(head(&memory(), "h").await);
    let script = Script::new(["One.", "Two.", "Three."].map(crate::support::Step::Say));
    let engine = everruns_engine::Engine::new();
    let session = engine.create(agent_of(&script).build().unwrap());
    let session = session.workspace(head);
    session.send_and_wait("Work.").await.unwrap();
    tokio::time::sleep(Duration::from_secs(50)).await;
    assert_eq!(caching.drops(), 0, "its user may go on soon");
    session.send_and_wait("Go on.").await.unwrap();
    tokio::time::sleep(Duration::from_secs(50)).await;
    assert_eq!(caching.drops(), 0, "the time begins with the last turn");
    tokio::time::sleep(Duration::from_secs(15)).await;
    assert_eq!(caching.drops(), 1);
    tokio::time::sleep(Duration::from_hours(1)).await;
    assert_eq!(caching.drops(), 1, "once is enough");
    session.send_and_wait("Once more.").await.unwrap();
    session.close().await;
    assert_eq!(caching.drops(), 2, "a closed session does not wait");
}
