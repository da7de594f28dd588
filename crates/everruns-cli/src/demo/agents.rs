//! The scripted agents of the demonstration. The script stands for a model's answers; the tool calls are real.

use std::sync::Arc;
use std::time::Duration;

use everruns::{Agent, Simulated, SimulatedStep, WorkspaceBackend, WorkspacePolicy};
use serde_json::json;

use crate::failure::Failure;

/// How long the model of the killed session would take for its next answer.
const NEVER: Duration = Duration::from_hours(1);

/// Makes the greeting polite: reads, then edits.
pub(super) fn polite() -> Simulated {
    Simulated::new()
        .then(
            SimulatedStep::new()
                .say("I look at the code first.")
                .call("read_file", json!({"path": "src/greet.py"})),
        )
        .call(
            "edit_file",
            json!({"path": "src/greet.py", "edits": [
                {"old_text": "\"Hello \" + name", "new_text": "\"Good day, \" + name"}
            ]}),
        )
        .say("The greeting is polite now.")
}

/// Adds a test: searches, then writes a new file.
pub(super) fn tester() -> Simulated {
    Simulated::new()
        .calls([("find_files", json!({"pattern": "**/*.py"})), ("grep", json!({"pattern": "def "}))])
        .call(
            "write_file",
            json!({"path": "tests/test_greet.py", "content":
                "from src.greet import greet\n\n\ndef test_greet():\n    assert greet(\"you\").endswith(\"you\")\n"}),
        )
        .say("There is a test now.")
}

/// Writes a file, and then never gets an answer.
pub(super) fn doomed() -> Simulated {
    Simulated::new()
        .call(
            "write_file",
            json!({"path": "docs/plan.md", "content": "# Plan\n\n1. Translate the greeting.\n"}),
        )
        .say("This is never said.")
        .delay(NEVER)
}

/// Looks at what the killed session left, and goes on from there.
pub(super) fn successor() -> Simulated {
    Simulated::new()
        .call("read_file", json!({"path": "docs/plan.md"}))
        .call(
            "write_file",
            json!({"path": "docs/plan.md", "content": "# Plan\n\n1. Translate the greeting.\n2. Done after the crash.\n"}),
        )
        .say("The plan was there; I have finished it.")
}

pub(super) fn agent(
    script: Simulated,
    backend: Arc<dyn WorkspaceBackend>,
) -> Result<Agent, Failure> {
    Agent::builder()
        .name("demo")
        .instructions("Work in the selected project head.")
        .provider(script)
        .model("scripted")
        .workspace_backend(backend)
        .workspace_policy(WorkspacePolicy::read_write())
        .build()
        .map_err(|error| Failure::of(&error))
}
