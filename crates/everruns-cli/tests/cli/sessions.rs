//! `session` commands, and every way to name a session.

use everruns::Engine;
use everruns::clock::{Clock as _, SystemClock};
use everruns::session::{AgentSummary, NewSession};
use everruns_acceptance::openai_server::ScriptedStep;
use serde_json::json;

use crate::support::{Place, Server, redacted};

fn with_sessions(tasks: &[&str]) -> Place {
    let mut steps = Vec::new();
    for _ in tasks {
        steps.push(ScriptedStep::call(
            "read_file",
            json!({"path": "README.md"}),
        ));
        steps.push(ScriptedStep::call("read_file", json!({"path": "missing"})));
        steps.push(ScriptedStep::say("That is\nall."));
    }
    let server = Server::start(steps);
    let mut place = Place::new();
    place.asks(&server);
    for task in tasks {
        place.ok(&["run", task]);
    }
    place
}

fn printed(place: &Place, arguments: &[&str]) -> String {
    redacted(&place.ok(arguments), &place.folder())
}

#[test]
fn there_may_be_none() {
    let place = Place::new();
    insta::assert_snapshot!("sessions_none", printed(&place, &["session", "list"]));
    let listed = place.json(&["session", "list"]);
    assert_eq!(listed["sessions"], json!([]));
}

#[test]
fn they_are_listed_with_the_names_of_their_heads() {
    let place = with_sessions(&[
        "First.",
        "Second, with a name that is too long for a column.",
    ]);
    insta::assert_snapshot!("sessions", printed(&place, &["session", "list"]));
    insta::assert_snapshot!(
        "sessions_limited",
        printed(&place, &["session", "list", "--limit", "1"])
    );
    let listed = place.json(&["session", "list"]);
    assert_eq!(listed["sessions"][1]["title"], "First.");

    // A repository that is gone leaves its sessions' conversations readable.
    let path = place.repository.path();
    let away = place.repository.beside("away");
    std::fs::rename(&path, &away).unwrap();
    let mut program = place.program(&["session", "list"]);
    let ran = place.finish(program.current_dir(place.folder()));
    assert!(ran.status.success(), "{ran:?}");
    assert!(ran.stdout.contains("First."), "{ran:?}");
    std::fs::rename(&away, &path).unwrap();
}

#[test]
fn a_conversation_is_shown() {
    let place = with_sessions(&["Read the file."]);
    let id = place.session_id();
    insta::assert_snapshot!("session_shown", printed(&place, &["session", "show", &id]));
    let shown = place.json(&["session", "show", &id]);
    assert_eq!(shown["session"]["id"], id.as_str());
    let kinds: Vec<_> = shown["events"]
        .as_array()
        .unwrap()
        .iter()
        .map(|event| {
            event["payload"]["type"]
                .as_str()
                .unwrap_or_default()
                .to_owned()
        })
        .collect();
    assert_eq!(
        kinds.first().map(String::as_str),
        Some("session_started"),
        "{shown}"
    );
    assert_eq!(
        kinds.last().map(String::as_str),
        Some("turn_ended"),
        "{shown}"
    );
}

#[test]
fn sessions_are_meant_by_id_or_its_beginning() {
    let place = with_sessions(&["One."]);
    let id = place.session_id();
    let rest = id.strip_prefix("ses_").unwrap();
    for meant in [id.as_str(), rest, &id[..8], &rest[..4]] {
        let shown = place.json(&["session", "show", meant]);
        assert_eq!(shown["session"]["id"], id.as_str(), "{meant}");
    }
    insta::assert_snapshot!("no_session_named", place.refused(&["session", "show", ""]));
    insta::assert_snapshot!(
        "unknown_session",
        place.refused(&["session", "show", "nobody"])
    );
    insta::assert_snapshot!("resume_unknown", place.refused(&["resume", "nobody"]));
    for odd in ["ses_", "%", "ses_%", "' or 1=1", "\u{1b}[2J"] {
        place.refused(&["session", "show", odd]);
        place.refused(&["resume", odd]);
    }
}

/// Records a session as one is whose process ended before it had a head.
fn record(place: &Place, id: &str) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let engine = Engine::local(place.state()).await.unwrap();
        let session = NewSession {
            id: id.parse().unwrap(),
            title: None,
            agent: AgentSummary {
                name: "everruns".to_owned(),
                provider: "openai".to_owned(),
                model: "scripted".to_owned(),
            },
            created_at: SystemClock.now(),
        };
        engine.store().create(session).await.unwrap();
    });
}

#[test]
fn an_ambiguous_beginning_is_refused() {
    let place = Place::new();
    record(&place, "ses_alike00000000000000a");
    record(&place, "ses_alike00000000000000b");
    insta::assert_snapshot!(
        "ambiguous_session",
        place.refused(&["session", "show", "alike"])
    );
    insta::assert_snapshot!("resume_ambiguous", place.refused(&["resume", "ses_alike"]));
    place.ok(&["session", "show", "alike00000000000000b"]);
}

#[test]
fn a_session_that_never_had_a_head_is_listed_and_not_resumed() {
    let mut place = Place::new();
    record(&place, "ses_never00000000000000a");
    insta::assert_snapshot!("session_never_bound", printed(&place, &["session", "list"]));
    insta::assert_snapshot!(
        "show_never_bound",
        printed(&place, &["session", "show", "never"])
    );
    let server = Server::start(Vec::new());
    place.asks(&server);
    insta::assert_snapshot!("resume_never_bound", place.refused(&["resume", "never"]));
}
