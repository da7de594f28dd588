//! The conversation of a session whose process was killed, in the words of every provider's interface.

mod rules;
mod written;

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use everruns::model::{Message, ToolSpec};
use everruns::model::{ModelError, ModelErrorKind, ModelProvider, ModelRequest, ModelStream};
use everruns::session::SessionQuery;
use everruns::{
    Agent, Engine, Session, Simulated, SimulatedStep, Tool, ToolContext, ToolError, ToolOutput,
    WorkspacePolicy, failpoint,
};
use everruns_testkit::failpoints::{Child, argument, is_child, kill_at_nth};
use futures::StreamExt as _;
use serde_json::{Value, json};

use written::Interfaces;

/// Where a child is killed: the phase, the step, and how often it is passed before.
const PHASES: &[(&str, &str, usize)] = &[
    (
        "before the model answers",
        "engine.turn.after-user-message",
        1,
    ),
    (
        "before the model answers",
        "model.stream.before-first-piece",
        1,
    ),
    ("while the model answers", "model.stream.between-pieces", 1),
    ("while the model answers", "model.stream.between-pieces", 4),
    (
        "between answer and call",
        "engine.turn.after-assistant-message",
        1,
    ),
    (
        "between call and result",
        "engine.turn.after-tool-before-result",
        1,
    ),
    (
        "between call and result",
        "engine.turn.after-tool-before-result",
        2,
    ),
    (
        "between result and next call",
        "engine.turn.after-result",
        1,
    ),
    (
        "between result and next call",
        "engine.turn.after-result",
        2,
    ),
    (
        "between result and answer",
        "model.stream.before-first-piece",
        2,
    ),
    ("before the end", "engine.turn.before-end", 1),
];
/// Records of a turn of the script, and the one of the start before them: each is committed once.
const COMMITS: usize = 7;

/// Says where it is, so that the process can be killed there.
#[derive(Debug)]
struct Speaking(Simulated);

fn step(name: &'static str) -> Result<(), ModelError> {
    failpoint::hit(name)
        .map_err(|error| ModelError::new(ModelErrorKind::Unavailable, error.to_string()))
}

#[async_trait]
impl ModelProvider for Speaking {
    fn name(&self) -> &'static str {
        "simulated"
    }

    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, ModelError> {
        let stream = self.0.stream(request).await?;
        step("model.stream.before-first-piece")?;
        let pieces = stream.enumerate().map(|(place, piece)| {
            if place > 0 {
                step("model.stream.between-pieces")?;
            }
            piece
        });
        Ok(pieces.boxed())
    }
}

/// Speaks to its own session as the user would, in the middle of the turn.
struct Interrupt(Arc<OnceLock<Session>>);

#[async_trait]
impl Tool for Interrupt {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "interrupt".to_owned(),
            description: "A tool of the tests.".to_owned(),
            input_schema: json!({"type": "object"}),
        }
    }

    async fn call(&self, _: &ToolContext, _: Value) -> Result<ToolOutput, ToolError> {
        let session = self.0.get().expect("it is set before the turn");
        let sent = session.send("Hurry.").await;
        let _turn = sent.map_err(|error| ToolError::new(error.to_string()))?;
        Ok(String::new().into())
    }
}

fn agent(
    project: &Path,
    state: &Path,
    model: impl ModelProvider + 'static,
) -> everruns::AgentBuilder {
    Agent::builder()
        .instructions("Work in the folder.")
        .provider(model)
        .model("simulated")
        .workspace(project)
        .state_folder(state)
        .workspace_policy(WorkspacePolicy::read_write())
}

/// The child: one turn with three calls, during which the user goes on speaking, until the armed step kills it.
async fn work(place: &Path, step: &str, nth: usize) {
    let script = Simulated::new()
        .then(
            SimulatedStep::new()
                .say("I look first and then write.")
                .calls([
                    ("interrupt", json!({})),
                    ("write_file", json!({"path": "a", "content": "a"})),
                    ("read_file", json!({"path": "a"})),
                ]),
        )
        .say("It is done as you said.");
    let own = Arc::new(OnceLock::new());
    let agent = agent(
        &place.join("project"),
        &place.join("state"),
        Speaking(script),
    )
    .tool(Interrupt(Arc::clone(&own)))
    .build()
    .unwrap();
    let engine = Engine::local(place.join("sessions")).await.unwrap();
    let session = engine.create(agent);
    assert!(own.set(session.clone()).is_ok());
    kill_at_nth(step, nth);
    session.send_and_wait("Write a.").await.unwrap();
}

/// What the model is asked in the turns after the session is resumed.
async fn asked_after(place: &Path, killed_at: &str) -> Vec<ModelRequest> {
    let script = Simulated::new()
        .then(
            SimulatedStep::new()
                .call("list_directory", json!({}))
                .call("read_file", json!({"path": "none"})),
        )
        .say("I go on.")
        // Models do sometimes say nothing at all.
        .then(SimulatedStep::new())
        .say("  ")
        .say("Bye.");
    let engine = Engine::local(place.join("sessions")).await.unwrap();
    let query = SessionQuery::default();
    let sessions = engine.sessions(query).await.unwrap().sessions;
    assert_eq!(sessions.len(), 1, "{killed_at}");
    let agent = agent(&place.join("project"), &place.join("state"), script.clone());
    engine.attach(&sessions[0].id, agent.build().unwrap());
    let session = engine.resume(&sessions[0].id).await.unwrap();
    for text in ["Go on.", "And then?", "Nothing?", "Good bye."] {
        let turn = session.send_and_wait(text).await.unwrap();
        assert!(turn.success, "{killed_at}: {turn:?}");
    }
    session.close().await;
    assert_eq!(script.remaining(), 0);
    script.requests()
}

async fn killed_and_resumed(test: &str, phase: &str, step: &str, nth: usize) -> Vec<ModelRequest> {
    let place = tempfile::tempdir().unwrap();
    std::fs::create_dir(place.path().join("project")).unwrap();
    Child::of_test(test)
        .argument("PLACE", place.path())
        .argument("STEP", step)
        .argument("NTH", nth.to_string())
        .run()
        .assert_killed();
    asked_after(place.path(), phase).await
}

async fn as_child() {
    let text = |name| argument(name).unwrap().into_string().unwrap();
    let place: PathBuf = text("PLACE").into();
    work(&place, &text("STEP"), text("NTH").parse().unwrap()).await;
}

async fn assert_accepted(phase: &str, requests: Vec<ModelRequest>) {
    let interfaces = Interfaces::start().await;
    for request in requests {
        interfaces.assert_accept(phase, request).await;
    }
}

/// A turn that is interrupted in any phase leaves a conversation that every provider accepts.
#[tokio::test]
async fn c15_h66_a_conversation_interrupted_in_any_phase_is_accepted_by_every_provider() {
    if is_child() {
        return as_child().await;
    }
    let test =
        "wire::c15_h66_a_conversation_interrupted_in_any_phase_is_accepted_by_every_provider";
    for (phase, step, nth) in PHASES {
        let requests = killed_and_resumed(test, phase, step, *nth).await;
        let user =
            |message: &Message| matches!(message, Message::User { text } if text == "Write a.");
        assert!(
            requests
                .iter()
                .all(|request| request.messages.iter().any(user)),
            "{phase}: what the user said is lost"
        );
        assert_accepted(&format!("{phase}, {step} {nth}"), requests).await;
    }
}

/// The same at each commit of the turn's records, before and after it.
#[tokio::test]
async fn c15_h66_a_conversation_interrupted_at_a_commit_is_accepted_by_every_provider() {
    if is_child() {
        return as_child().await;
    }
    let test = "wire::c15_h66_a_conversation_interrupted_at_a_commit_is_accepted_by_every_provider";
    for step in ["store.append.before-commit", "store.append.after-commit"] {
        for nth in 1..=COMMITS {
            let phase = format!("{step} {nth}");
            let requests = killed_and_resumed(test, &phase, step, nth).await;
            assert_accepted(&phase, requests).await;
        }
    }
}
