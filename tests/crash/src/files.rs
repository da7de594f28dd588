//! The files as the record of a session says they are.

use std::collections::{BTreeMap, BTreeSet};

use everruns::WorkspaceHead;
use everruns::file_system::{FileKind, ReadRange, SessionFileSystemExt as _};
use everruns::model::ToolCall;
use everruns::path::WorkspacePath;
use everruns::session::{EventPayload, Sequence, SessionEvent, ToolOutcome};

use crate::child::Seen;
use crate::project::is_followed;

/// Contents by path.
pub(crate) type Files = BTreeMap<String, String>;

/// Every state that the files may have: more than one after a call of unknown outcome.
pub(crate) type States = BTreeSet<Files>;

/// All files of a head as a model could read them.
pub(crate) async fn of_head(head: &WorkspaceHead) -> anyhow::Result<Files> {
    let tree = head.file_system();
    let mut files = Files::new();
    let mut folders = vec![String::new()];
    while let Some(folder) = folders.pop() {
        let path = if folder.is_empty() {
            WorkspacePath::root()
        } else {
            WorkspacePath::parse(&folder)?
        };
        for entry in tree.list_all(&path).await? {
            let mut name = folder.clone();
            if !name.is_empty() {
                name.push('/');
            }
            name.push_str(entry.name.as_str());
            if entry.stat.kind == FileKind::Directory {
                folders.push(name);
                continue;
            }
            if !is_followed(&name) {
                continue;
            }
            let path = WorkspacePath::parse(&name)?;
            let content = tree.read(&path, ReadRange::ALL).await?;
            let text = String::from_utf8_lossy(content.bytes()).into_owned();
            files.insert(name, text);
        }
    }
    Ok(files)
}

/// A branch that was to be brought into the head after an event, which adds a file.
#[derive(Clone, Debug)]
pub(crate) struct Update {
    pub(crate) after: Sequence,
    path: String,
    text: String,
    /// Whether it was acknowledged.
    done: bool,
}

impl Update {
    /// The updates among what a child saw.
    pub(crate) fn all(seen: &[Seen]) -> Vec<Self> {
        let mut updates = Vec::new();
        for (index, one) in seen.iter().enumerate() {
            if let Seen::Updating { after, path, text } = one {
                updates.push(Self {
                    after: *after,
                    path: path.clone(),
                    text: text.clone(),
                    // Events may be told in between.
                    done: seen[index + 1..]
                        .iter()
                        .take_while(|later| !matches!(later, Seen::Updating { .. }))
                        .any(|later| matches!(later, Seen::Updated)),
                });
            }
        }
        updates
    }

    /// `states` with its file.
    fn with(&self, states: &States) -> States {
        let with = states.iter().map(|files| {
            let mut files = files.clone();
            files.insert(self.path.clone(), self.text.clone());
            files
        });
        with.collect()
    }
}

/// The states of the files along the record of one session.
#[derive(Clone, Debug)]
pub(crate) struct Course {
    states: States,
    called: Vec<ToolCall>,
    /// The states at the ends of turns.
    at: BTreeMap<Sequence, States>,
    /// Files that came from outside of the session: what is kept at the end of a turn may be without them.
    outside: BTreeSet<String>,
    /// Where the session first kept its files: before, going back leaves them as they are.
    kept_from: Option<Sequence>,
}

impl Course {
    /// Beginning with exactly these.
    pub(crate) fn beginning_with(files: Files) -> Self {
        let states = States::from([files]);
        Self {
            at: BTreeMap::from([(Sequence(1), states.clone())]),
            states,
            called: Vec::new(),
            outside: BTreeSet::new(),
            kept_from: None,
        }
    }

    /// A branch was brought into the head, or may have been.
    pub(crate) fn update(&mut self, update: &Update) {
        let with = update.with(&self.states);
        if update.done {
            self.states = with;
        } else {
            self.states.extend(with);
        }
        if self.kept_from.is_none() {
            for states in self.at.values_mut() {
                states.extend(update.with(states));
            }
        }
        self.outside.insert(update.path.clone());
    }

    /// What may be kept of the present files.
    fn kept(&self) -> States {
        let mut kept = self.states.clone();
        for path in &self.outside {
            let without = kept.iter().map(|files| {
                let mut files = files.clone();
                files.remove(path);
                files
            });
            let without: States = without.collect();
            kept.extend(without);
        }
        kept
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
                        let partly = self.states.iter().flat_map(|files| partly(files, call));
                        let done: Vec<_> = done.chain(partly).collect();
                        self.states.extend(done);
                    }
                    _ => {}
                }
            }
            EventPayload::CheckpointTaken { .. } => {
                self.kept_from.get_or_insert(event.sequence);
            }
            EventPayload::TurnEnded { .. } => {
                self.at.insert(event.sequence, self.kept());
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
            outside: self.outside.clone(),
            kept_from: self.kept_from.filter(|from| *from <= place),
            at: at.map(|(place, states)| (*place, states.clone())).collect(),
        })
    }
}

/// What a removal of a folder with all in it can leave when it does not come to its end.
fn partly(files: &Files, call: &ToolCall) -> Vec<Files> {
    let folder = format!("{}/", call.arguments["path"].as_str().unwrap_or_default());
    if call.name != "delete_file" {
        return Vec::new();
    }
    let inside = files.keys().filter(|path| path.starts_with(&folder));
    let mut states = vec![files.clone()];
    for path in inside {
        let without = states.clone().into_iter().map(|mut files| {
            files.remove(path);
            files
        });
        states.extend(without.collect::<Vec<_>>());
    }
    states
}

fn after(files: &Files, call: &ToolCall) -> Files {
    let argument = |name: &str| call.arguments[name].as_str().unwrap_or_default().to_owned();
    let mut files = files.clone();
    match call.name.as_str() {
        "write_file" => drop(files.insert(argument("path"), argument("content"))),
        "delete_file" => {
            let folder = format!("{}/", argument("path"));
            files.remove(&argument("path"));
            files.retain(|path, _| !path.starts_with(&folder));
        }
        "move_file" => {
            if let Some(text) = files.remove(&argument("from")) {
                files.insert(argument("to"), text);
            }
        }
        _ => {}
    }
    files
}
