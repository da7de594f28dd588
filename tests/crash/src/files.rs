//! The files as the record of a session says they are.

use std::collections::{BTreeMap, BTreeSet};

use everruns::model::ToolCall;
use everruns::session::{EventPayload, ToolOutcome};

/// Contents by path.
pub(crate) type Files = BTreeMap<String, String>;

/// Every state that the files may have: more than one after a call of unknown outcome.
#[derive(Clone, Debug)]
pub(crate) struct Possible {
    states: BTreeSet<Files>,
    called: Vec<ToolCall>,
}

impl Possible {
    /// Exactly these.
    pub(crate) fn exactly(files: Files) -> Self {
        Self {
            states: BTreeSet::from([files]),
            called: Vec::new(),
        }
    }

    /// Takes in what happened next.
    pub(crate) fn apply(&mut self, event: &EventPayload) {
        match event {
            EventPayload::AssistantMessage { tool_calls, .. } => self.called.clone_from(tool_calls),
            EventPayload::ToolResult {
                call_id, outcome, ..
            } => {
                let Some(call) = self.called.iter().find(|call| call.id == *call_id) else {
                    return;
                };
                let done = self.states.iter().map(|files| after(files, call));
                match outcome {
                    ToolOutcome::Succeeded => self.states = done.collect(),
                    ToolOutcome::Unknown => {
                        let done: Vec<_> = done.collect();
                        self.states.extend(done);
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }

    /// Whether the files may be as they are.
    pub(crate) fn allow(&self, files: &Files) -> bool {
        self.states.contains(files)
    }
}

fn after(files: &Files, call: &ToolCall) -> Files {
    let argument = |name: &str| call.arguments[name].as_str().unwrap_or_default().to_owned();
    let mut files = files.clone();
    match call.name.as_str() {
        "write_file" => drop(files.insert(argument("path"), argument("content"))),
        "delete_file" => drop(files.remove(&argument("path"))),
        "move_file" => {
            if let Some(text) = files.remove(&argument("from")) {
                files.insert(argument("to"), text);
            }
        }
        _ => {}
    }
    files
}
