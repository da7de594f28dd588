//! The files as the record of a session says they are.

use std::collections::{BTreeMap, BTreeSet};

use everruns::model::ToolCall;
use everruns::session::{EventPayload, Sequence, SessionEvent, ToolOutcome};

/// Contents by path.
pub(crate) type Files = BTreeMap<String, String>;

/// Every state that the files may have: more than one after a call of unknown outcome.
pub(crate) type States = BTreeSet<Files>;

/// The states of the files along the record of one session.
#[derive(Clone, Debug)]
pub(crate) struct Course {
    states: States,
    called: Vec<ToolCall>,
    /// The states at the ends of turns.
    at: BTreeMap<Sequence, States>,
}

impl Course {
    /// Beginning with exactly these.
    pub(crate) fn beginning_with(files: Files) -> Self {
        let states = States::from([files]);
        Self {
            at: BTreeMap::from([(Sequence(1), states.clone())]),
            states,
            called: Vec::new(),
        }
    }

    /// Takes in what happened next.
    pub(crate) fn apply(&mut self, event: &SessionEvent) {
        match &event.payload {
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
            EventPayload::TurnEnded { .. } => {
                self.at.insert(event.sequence, self.states.clone());
            }
            EventPayload::Rewound { to, .. } => {
                if let Some(then) = self.at.get(to) {
                    self.states = then.clone();
                }
            }
            _ => {}
        }
    }

    /// Learns how the files really are; `false` when the record does not allow it.
    pub(crate) fn meet(&mut self, files: &Files) -> bool {
        let allowed = self.states.contains(files);
        self.states = States::from([files.clone()]);
        allowed
    }

    /// The course of a fork that was made at the end of a turn, or at any other place whose states are these.
    pub(crate) fn forked_at(&self, place: Sequence) -> Option<Self> {
        let states = self.at.get(&place)?.clone();
        let at = self.at.range(..=place);
        Some(Self {
            states,
            called: Vec::new(),
            at: at.map(|(place, states)| (*place, states.clone())).collect(),
        })
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
