//! `session events`.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use everruns_acceptance::openai_server::ScriptedStep;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::support::{Place, Server, redacted};

fn worked() -> (Place, Server, String) {
    let written = json!({"path": "made.txt", "content": "made\n"});
    let server = Server::start(vec![
        ScriptedStep::call("write_file", written),
        ScriptedStep::say("It is\nmade."),
        ScriptedStep::say("Gone on."),
    ]);
    let mut place = Place::new();
    place.asks(&server);
    place.ok(&["run", "Make\nit."]);
    let id = place.session_id();
    (place, server, id)
}

#[test]
fn events_are_printed_one_a_line() {
    let (place, _server, id) = worked();
    let printed = place.ok(&["session", "events", &id]);
    insta::assert_snapshot!("events", redacted(&printed, &place.folder()));
    let all = printed.lines().count();
    let lines = place.ok(&["session", "events", &id, "--json", "--from", "3"]);
    let events: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(events.len(), all - 2);
    assert_eq!(events[0]["sequence"], 3);
    assert_eq!(place.ok(&["session", "events", &id, "--from", "999"]), "");
}

/// Proves that a follower sees each event once, those of other processes too, and disturbs nobody.
#[test]
fn new_events_of_another_process_are_followed() {
    let (place, _server, id) = worked();
    let mut follower = place
        .program(&["session", "events", &id, "--follow", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(follower.stdout.take().unwrap()).lines();
    let mut next =
        move || -> Value { serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap() };
    let mut place_of_last = 0;
    let mut until_end_of = |turn: u64| {
        loop {
            let event = next();
            place_of_last += 1;
            assert_eq!(event["sequence"], place_of_last);
            if event["payload"]["type"] == "turn_ended" && event["payload"]["turn"] == turn {
                return;
            }
        }
    };
    until_end_of(1);
    place.ok(&["resume", &id, "Go on."]);
    until_end_of(2);
    kill_process(Pid::from_child(&follower), Signal::INT).unwrap();
    let ended = follower.wait_with_output().unwrap();
    assert_eq!(String::from_utf8(ended.stderr).unwrap(), "");
}

/// A reader such as `head -1` ends even a follower, with the next event at the latest.
#[test]
fn a_follower_ends_with_its_reader() {
    let (place, _server, id) = worked();
    let mut follower = place
        .program(&["session", "events", &id, "--follow"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(follower.stdout.take());
    place.ok(&["resume", &id, "Go on."]);
    let ended = follower.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(0), "{ended:?}");
}
