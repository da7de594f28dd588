//! Processes that end in the middle of a turn, by force or because someone pressed Ctrl-C.

use std::time::{Duration, Instant};

use everruns_acceptance::openai_server::ScriptedStep;
use rustix::fs::{FlockOperation, flock};
use rustix::process::Signal;
use serde_json::json;

use crate::support::{Place, Server, text, until};

/// A model that writes a file and then takes too long.
fn slow() -> Server {
    let written = json!({"path": "made.txt", "content": "made\n"});
    Server::start(vec![
        ScriptedStep::call("write_file", written),
        ScriptedStep::say("I will never say this").slow(Duration::from_mins(10)),
    ])
}

fn folder(place: &Place, head: &str) -> std::path::PathBuf {
    let (_, other) = place.head("only to know where heads are");
    other.with_file_name(head)
}

/// Proves C15: after SIGKILL the session goes on on exactly its head, and its record says what happened.
#[test]
fn a_killed_turn_is_resumed_on_its_head_with_an_honest_record() {
    let first = slow();
    let mut place = Place::new();
    place.asks(&first);
    let before = place.repository.snapshot();
    let running = place.start(&["run", "Make the file."]);
    until("the second request", || first.requests().len() == 2);
    let id = place.session_id();

    let shown = place.run(&["session", "show", &id]);
    insta::assert_snapshot!("shown_while_it_runs", shown.printed());

    // While it lives, nobody else may execute its session.
    let busy = place.run(&["resume", &id]);
    assert_eq!(busy.status.code(), Some(1));
    let owner = busy.said();
    let hints: Vec<&str> = owner.lines().skip(1).collect();
    assert!(owner.contains("is being executed by"), "{owner}");
    insta::assert_snapshot!("session_busy_hints", hints.join("\n"));

    running.send(Signal::KILL);
    assert!(!running.finish().status.success());
    let head = place.session()["binding"]["head_id"].clone();

    let second = Server::start(vec![ScriptedStep::say("It is there already.")]);
    place.asks(&second);
    let resumed = place.run(&["resume", &id]);
    assert!(resumed.status.success(), "{resumed:?}");
    insta::assert_snapshot!("resumed_after_kill", resumed.printed());
    let told = second.requests()[0].body.to_string();
    assert!(told.contains("where you were interrupted"), "{told}");
    assert_eq!(place.session()["binding"]["head_id"], head);
    let folder = folder(&place, head.as_str().unwrap());
    assert_eq!(text(folder.join("made.txt")), "made\n");
    insta::assert_snapshot!(
        "shown_after_kill",
        place.run(&["session", "show", &id]).printed()
    );
    let changes = before.differences(&place.repository.snapshot());
    assert!(changes.is_empty(), "{changes:?}");
}

#[test]
fn ctrl_c_cancels_the_turn_and_keeps_the_work() {
    for (signal, snapshot) in [(Signal::INT, "ctrl_c"), (Signal::TERM, "sigterm")] {
        let server = slow();
        let mut place = Place::new();
        place.asks(&server);
        let running = place.start(&["run", "Make the file."]);
        until("the second request", || server.requests().len() == 2);
        let start = Instant::now();
        running.send(signal);
        let ran = running.finish();

        assert_eq!(ran.status.code(), Some(1), "{ran:?}");
        assert!(start.elapsed() < Duration::from_secs(30));
        insta::assert_snapshot!(format!("{snapshot}_said"), ran.said());
        insta::assert_snapshot!(format!("{snapshot}_printed"), ran.printed());
        let id = place.session_id();
        let shown = place.ok(&["session", "show", &id]);
        assert!(shown.contains(": turn 1 was cancelled"), "{shown}");

        let next = Server::start(vec![ScriptedStep::say("Gone on.")]);
        place.asks(&next);
        let resumed = place.json(&["resume", &id, "Go on."]);
        assert_eq!(resumed["turn"]["response"], "Gone on.");
        assert_eq!(resumed["diff"]["files"][0]["path"], "made.txt");
    }
}

/// The first Ctrl-C keeps the files of the cancelled turn, for which it waits as long as somebody else has the head's
/// lock; the second does not.
#[test]
fn a_second_ctrl_c_leaves_at_once_and_the_session_can_be_resumed() {
    let server = slow();
    let mut place = Place::new();
    place.asks(&server);
    let running = place.start(&["run", "Make the file."]);
    until("the second request", || server.requests().len() == 2);
    let session = place.session();
    let id = session["id"].as_str().unwrap();
    let head = session["binding"]["head_id"].as_str().unwrap();
    let locks = place.state().join("workspace-provider").join("locks");
    let lock = std::fs::OpenOptions::new()
        .write(true)
        .open(locks.join(format!("{head}.lock")))
        .unwrap();
    flock(&lock, FlockOperation::LockExclusive).unwrap();
    running.send(Signal::INT);
    // The program heeds signals one after the other: what is said tells that the first one has come.
    let (said, running) = running.until_said("stopping; press Ctrl-C again to leave at once\n");
    running.send(Signal::INT);
    let ran = running.finish();
    assert_eq!(ran.status.code(), Some(130), "{said}{ran:?}");
    drop(lock);

    let next = Server::start(vec![ScriptedStep::say("Gone on.")]);
    place.asks(&next);
    let resumed = place.json(&["resume", id, "Go on."]);
    assert_eq!(resumed["turn"]["response"], "Gone on.");
    assert_eq!(resumed["diff"]["files"][0]["path"], "made.txt");
}

#[test]
fn ctrl_c_in_json_mode_gives_json_only() {
    let server = slow();
    let mut place = Place::new();
    place.asks(&server);
    let running = place.start(&["run", "Make the file.", "--json"]);
    until("the second request", || server.requests().len() == 2);
    running.send(Signal::INT);
    let ran = running.finish();
    assert_eq!(ran.status.code(), Some(1), "{ran:?}");
    let result: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(result["turn"]["outcome"], json!("cancelled"));
    let error: serde_json::Value = serde_json::from_str(&ran.stderr).unwrap();
    assert_eq!(error["error"], "the turn was cancelled");
}

#[test]
fn a_session_is_not_resumed_on_a_head_that_is_not_there() {
    let server = Server::start(vec![ScriptedStep::say("Done.")]);
    let mut place = Place::new();
    place.asks(&server);
    place.ok(&["run", "Look.", "--head", "mine"]);
    let id = place.session_id();

    place.ok(&["head", "archive", "mine"]);
    insta::assert_snapshot!("resume_archived", place.refused(&["resume", &id]));
    place.ok(&["head", "reopen", "mine"]);

    let head = place.session()["binding"]["head_id"].clone();
    let folder = folder(&place, head.as_str().unwrap());
    std::fs::rename(&folder, place.repository.beside("taken-away")).unwrap();
    insta::assert_snapshot!("resume_folder_gone", place.refused(&["resume", &id]));
    std::fs::rename(place.repository.beside("taken-away"), &folder).unwrap();

    place.ok(&["head", "destroy", "mine"]);
    insta::assert_snapshot!("resume_destroyed", place.refused(&["resume", &id]));
    let kept = place.ok(&["session", "show", &id]);
    assert!(kept.contains("agent: Done."), "{kept}");
    assert_eq!(server.requests().len(), 1, "no model was asked");
}
