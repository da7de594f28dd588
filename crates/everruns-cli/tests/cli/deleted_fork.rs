//! A fork that was deleted before its source had on record that it was made, by the real program.

use std::path::{Path, PathBuf};
use std::time::Duration;

use everruns::clock::{Clock as _, SystemClock};
use everruns::session::{AppendRequest, EventPayload, EventQuery, LeaseOwner, SessionStore as _};
use everruns::{SessionId, SqliteSessionStore};
use everruns_acceptance::openai_server::ScriptedStep;
use serde_json::json;

use crate::support::{Place, Server, text};

/// Takes back that the fork has ended: the record is as a process leaves it that is killed after it has made the session.
async fn forget_the_end(sessions: &Path, source: &SessionId) {
    let store = SqliteSessionStore::open(sessions).await.unwrap();
    let page = store.events(source, EventQuery::last(100)).await.unwrap();
    let begun = page.events.into_iter().find_map(|event| {
        matches!(event.payload, EventPayload::ForkBegun { .. }).then_some(event.payload)
    });
    let (owner, now) = (LeaseOwner("killed".to_owned()), SystemClock.now());
    let lease = store
        .acquire_lease(source, &owner, now, Duration::from_secs(10))
        .await
        .unwrap();
    let last = store.session(source).await.unwrap().last_sequence;
    let request = AppendRequest {
        session: source.clone(),
        token: lease.token,
        expected: last,
        idempotency_key: format!("begun after {last}"),
        at: now,
        events: vec![begun.expect("the fork was begun")],
    };
    store.append(request).await.unwrap();
    store.release_lease(source, lease.token).await.unwrap();
    store.close().await;
}

/// Proves C11 and H61 for the program: deleting says that the head stays with everything in it, and so it does when the
/// source goes on and when it is deleted.
#[test]
fn c11_h61_a_deleted_fork_leaves_its_head_for_good() {
    let write = json!({"path": "made.txt", "content": "made\n"});
    let server = Server::start(vec![
        ScriptedStep::call("write_file", write),
        ScriptedStep::say("Made."),
        ScriptedStep::say("Gone on."),
    ]);
    let mut place = Place::new();
    place.asks(&server);
    place.ok(&["run", "Make it.", "--head", "mine"]);
    let source = place.session_id();
    let shown = place.json(&["session", "show", &source]);
    let events = shown["events"].as_array().unwrap();
    let ended = |event: &&serde_json::Value| event["payload"]["type"] == "turn_ended";
    let end = events.iter().find(ended).unwrap()["sequence"].to_string();
    let fork = place.json(&["session", "fork", &source, "--name", "again", "--at", &end]);
    let folder = PathBuf::from(fork["location"].as_str().unwrap());
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let id = SessionId::new(source.as_str()).unwrap();
    let sessions = place.state().join("sessions.db");
    runtime.block_on(forget_the_end(&sessions, &id));

    let deleted = fork["session"].as_str().unwrap();
    place.ok(&["session", "delete", deleted, "--yes"]);
    std::fs::write(folder.join("made.txt"), "made better\n").unwrap();
    std::fs::write(folder.join("mine.txt"), "mine\n").unwrap();
    let check = |sessions: usize| {
        assert_eq!(text(folder.join("made.txt")), "made better\n");
        assert_eq!(text(folder.join("mine.txt")), "mine\n");
        let listed = place.json(&["session", "list"]);
        assert_eq!(listed["sessions"].as_array().unwrap().len(), sessions);
    };
    let resumed = place.json(&["resume", &source, "Go on."]);
    assert_eq!(resumed["turn"]["response"], "Gone on.");
    check(1);
    runtime.block_on(forget_the_end(&sessions, &id));
    place.ok(&["session", "delete", &source, "--yes"]);
    check(0);
    place.ok(&["head", "status", "again"]);
}
