use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use everruns_core::model::{Message, Messages, ToolCall, Usage};
use everruns_core::session::{EventPayload, Sequence, ToolOutcome};
use everruns_core::workspace::WorkspaceCheckpoint;

use super::CallIds;
use super::intent::Intent;

/// What the model reads where the records were restored from a backup.
const RESTORED: &str = "[Note of the system, not of the user] The record of this conversation was restored from an older \
     backup. What was said and done after that backup is missing above, and the files were not taken back: they may be \
     newer than this conversation. Look at the present files before you rely on what is said above.";

/// The conversation as a model is to see it, made of the session's events one after the other.
///
/// What the user says while a turn runs is recorded at once, but no provider accepts a user's message between a
/// tool call and its result, nor before an answer that did not know it. Such messages are therefore put after the
/// next answer and its results. The rule looks at the events alone, so that a replay gives the same conversation.
///
/// Made of the events since the end of a turn, it knows everything but the older messages and what they used.
#[derive(Debug, Default)]
pub(crate) struct Conversation {
    messages: Messages,
    marks: Vec<Mark>,
    pending: Vec<ToolCall>,
    call_ids: CallIds,
    steering: VecDeque<String>,
    open_turn: Option<u64>,
    turns: u64,
    usage: Usage,
    files: FileState,
    /// What was kept of the files before the session's first change of them.
    first: FileState,
    /// The tools that the turn which runs has called.
    called: BTreeSet<String>,
    intent: Option<Intent>,
}

/// Where the files of a place of the record are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum FileState {
    /// The session has not changed any that the record tells of.
    #[default]
    Unchanged,
    /// Kept.
    Kept(Arc<WorkspaceCheckpoint>),
    /// Changed and not kept.
    Missed,
}

/// A place of the record between two turns, to which one may go back.
#[derive(Clone, Debug)]
pub(crate) struct Mark {
    sequence: Sequence,
    /// How many messages there were.
    messages: usize,
    files: FileState,
}

impl Conversation {
    /// Takes in what happened next.
    pub(crate) fn apply(&mut self, sequence: Sequence, event: &EventPayload) {
        match event {
            EventPayload::UserMessage { text } if self.open_turn.is_some() => {
                self.steering.push_back(text.clone());
            }
            EventPayload::UserMessage { text } => self.messages.push(Message::user(text)),
            EventPayload::RecordRestored if self.open_turn.is_some() => {
                self.steering.push_back(RESTORED.to_owned());
            }
            EventPayload::RecordRestored => self.messages.push(Message::user(RESTORED)),
            EventPayload::TurnStarted { turn } => {
                self.open_turn = Some(*turn);
                self.called.clear();
                self.turns = (*turn).max(self.turns);
            }
            EventPayload::AssistantMessage {
                text,
                tool_calls,
                usage,
                ..
            } => {
                self.usage += *usage;
                self.pending.clone_from(tool_calls);
                for call in tool_calls {
                    self.call_ids.insert(&call.id);
                }
                self.called
                    .extend(tool_calls.iter().map(|call| call.name.clone()));
                self.messages.push(Message::Assistant {
                    text: text.clone(),
                    tool_calls: tool_calls.clone(),
                });
                self.steer_when_settled();
            }
            EventPayload::ToolResult {
                call_id,
                tool,
                output,
                outcome,
                ..
            } => {
                self.pending.retain(|call| call.id != *call_id);
                self.messages.push(Message::ToolResult {
                    call_id: call_id.clone(),
                    tool: tool.clone(),
                    output: output.clone(),
                    is_error: *outcome != ToolOutcome::Succeeded,
                });
                self.steer_when_settled();
            }
            EventPayload::TurnEnded { turn, .. } => {
                self.open_turn = None;
                self.turns = (*turn).max(self.turns);
                self.steer_when_settled();
                self.mark(sequence);
            }
            EventPayload::CheckpointTaken { checkpoint, .. } => {
                self.files_are(FileState::Kept(Arc::new(checkpoint.clone())));
            }
            EventPayload::CheckpointMissed { .. } => self.files_are(FileState::Missed),
            EventPayload::Rewound { to, .. } => {
                self.go_back(*to);
                self.mark(sequence);
            }
            EventPayload::SessionStarted { .. }
            | EventPayload::SessionResumed { .. }
            | EventPayload::Forked { .. }
                if self.open_turn.is_none() =>
            {
                self.mark(sequence);
            }
            _ => {}
        }
        Intent::apply(&mut self.intent, event);
    }

    /// The messages, oldest first. Every tool call is followed by its result, once [`pending`](Self::pending) is
    /// empty.
    pub(crate) fn messages(&self) -> &Messages {
        &self.messages
    }

    /// Whether the messages and what else grows with them take more memory than this.
    pub(crate) fn takes_more_than(&self, bytes: usize) -> bool {
        let mut taken = self.marks.len() * size_of::<Mark>() + self.call_ids.weight();
        for message in self.messages.iter() {
            taken += weight(message);
            if taken > bytes {
                return true;
            }
        }
        taken > bytes
    }

    /// The ids of all calls.
    pub(crate) fn call_ids(&self) -> &CallIds {
        &self.call_ids
    }

    /// The calls that have no result yet.
    pub(crate) fn pending(&self) -> &[ToolCall] {
        &self.pending
    }

    /// Whether the user has said something that the model has not been shown.
    pub(crate) fn has_steering(&self) -> bool {
        !self.steering.is_empty()
    }

    /// The turn that has begun and not ended.
    pub(crate) fn open_turn(&self) -> Option<u64> {
        self.open_turn
    }

    /// The number of the last turn.
    pub(crate) fn turns(&self) -> u64 {
        self.turns
    }

    /// What all answers used.
    pub(crate) fn usage(&self) -> Usage {
        self.usage
    }

    /// Where the files were at the last place of which the record tells.
    pub(crate) fn files(&self) -> &FileState {
        &self.files
    }

    /// The tools that the turn which runs, or ran last, has called.
    pub(crate) fn called(&self) -> impl Iterator<Item = &str> {
        self.called.iter().map(String::as_str)
    }

    /// Where the files of a place to which one may go back are; `None` for any other place.
    pub(crate) fn files_at(&self, to: Sequence) -> Option<FileState> {
        let place = self
            .marks
            .binary_search_by_key(&to, |mark| mark.sequence)
            .ok()?;
        let there = &self.marks.get(place)?.files;
        Some(self.or_first(there))
    }

    /// The places to which one may go back, oldest first, and where their files are.
    pub(crate) fn places(&self) -> impl Iterator<Item = (Sequence, FileState)> {
        self.marks
            .iter()
            .map(|mark| (mark.sequence, self.or_first(&mark.files)))
    }

    /// What was begun between turns and has not ended.
    pub(crate) fn intent(&self) -> Option<&Intent> {
        self.intent.as_ref()
    }

    fn go_back(&mut self, to: Sequence) {
        let kept = self.marks.partition_point(|mark| mark.sequence <= to);
        self.marks.truncate(kept);
        let last = self.marks.last();
        self.messages.truncate(last.map_or(0, |mark| mark.messages));
        let files = last.map_or(FileState::Unchanged, |mark| mark.files.clone());
        self.files = self.or_first(&files);
    }

    /// Before the first change, the files were what was kept then.
    fn or_first(&self, files: &FileState) -> FileState {
        match files {
            FileState::Unchanged => self.first.clone(),
            known => known.clone(),
        }
    }

    fn files_are(&mut self, files: FileState) {
        if self.first == FileState::Unchanged {
            self.first = files.clone();
        }
        self.files = files;
    }

    fn mark(&mut self, sequence: Sequence) {
        self.marks.push(Mark {
            sequence,
            messages: self.messages.len(),
            files: self.files.clone(),
        });
    }

    fn steer_when_settled(&mut self) {
        if self.pending.is_empty() {
            let said = self.steering.drain(..).map(Message::user);
            self.messages.extend(said);
        }
    }
}

/// About what a message takes in memory.
fn weight(message: &Message) -> usize {
    let text = match message {
        Message::User { text } => text.len(),
        Message::Assistant { text, tool_calls } => {
            let call = |call: &ToolCall| call.name.len() + call.arguments.to_string().len();
            text.len() + tool_calls.iter().map(call).sum::<usize>()
        }
        Message::ToolResult { output, .. } => output.len(),
        _ => 0,
    };
    size_of::<Message>() + text
}

#[cfg(test)]
mod tests {
    use everruns_core::model::StopReason;
    use everruns_core::session::TurnOutcome;
    use serde_json::json;

    use super::*;

    fn user(text: &str) -> EventPayload {
        EventPayload::UserMessage { text: text.into() }
    }

    fn answer(text: &str, calls: &[&str]) -> EventPayload {
        EventPayload::AssistantMessage {
            turn: 1,
            text: text.into(),
            tool_calls: calls
                .iter()
                .map(|id| ToolCall {
                    id: (*id).into(),
                    name: "t".into(),
                    arguments: json!({}),
                })
                .collect(),
            stop: StopReason::EndTurn,
            usage: Usage::default(),
        }
    }

    fn result(id: &str) -> EventPayload {
        EventPayload::ToolResult {
            turn: 1,
            call_id: id.into(),
            tool: "t".into(),
            output: format!("result of {id}"),
            outcome: ToolOutcome::Succeeded,
            data: None,
        }
    }

    fn told(events: &[EventPayload]) -> Vec<String> {
        let mut conversation = Conversation::default();
        for (place, event) in (1..).zip(events) {
            conversation.apply(Sequence(place), event);
        }
        conversation
            .messages()
            .iter()
            .map(|message| match message {
                Message::User { text } => format!("user: {text}"),
                Message::Assistant { text, .. } => format!("model: {text}"),
                Message::ToolResult { output, .. } => output.clone(),
                _ => String::new(),
            })
            .collect()
    }

    #[test]
    fn steering_never_parts_a_call_from_its_result() {
        let started = EventPayload::TurnStarted { turn: 1 };
        assert_eq!(
            told(&[
                user("go"),
                started,
                answer("calling", &["a", "b"]),
                user("wait"),
                result("a"),
                result("b"),
                answer("done", &[]),
            ]),
            [
                "user: go",
                "model: calling",
                "result of a",
                "result of b",
                "user: wait",
                "model: done"
            ]
        );
    }

    #[test]
    fn steering_comes_after_the_answer_that_did_not_know_it() {
        let started = EventPayload::TurnStarted { turn: 1 };
        assert_eq!(
            told(&[user("go"), started, user("more"), answer("first", &[])]),
            ["user: go", "model: first", "user: more"]
        );
    }

    #[test]
    fn steering_of_a_turn_without_an_answer_is_kept() {
        let started = EventPayload::TurnStarted { turn: 1 };
        let ended = EventPayload::TurnEnded {
            turn: 1,
            outcome: TurnOutcome::Cancelled,
        };
        assert_eq!(
            told(&[user("go"), started, user("more"), ended]),
            ["user: go", "user: more"]
        );
    }

    #[test]
    fn a_restored_record_is_told_between_messages_only() {
        let started = EventPayload::TurnStarted { turn: 1 };
        let ended = EventPayload::TurnEnded {
            turn: 1,
            outcome: TurnOutcome::Interrupted,
        };
        let notice = format!("user: {RESTORED}");
        let settled = [
            user("go"),
            started.clone(),
            answer("done", &[]),
            ended.clone(),
        ];
        let after = |events: &[EventPayload]| {
            let restored = EventPayload::RecordRestored;
            told(&[events, &[restored, user("and?")]].concat())
        };
        assert_eq!(
            after(&settled),
            ["user: go", "model: done", &notice, "user: and?"]
        );
        let open = [user("go"), started, answer("calling", &["a"])];
        let closing = [EventPayload::RecordRestored, result("a"), ended];
        assert_eq!(
            told(&[&open[..], &closing[..]].concat()),
            ["user: go", "model: calling", "result of a", &notice]
        );
    }

    #[test]
    fn going_back_leaves_the_messages_of_the_turns_before() {
        let turn = |turn, said: &str| {
            let outcome = TurnOutcome::Completed;
            [
                user(said),
                EventPayload::TurnStarted { turn },
                answer(&format!("on {said}"), &[]),
                EventPayload::TurnEnded { turn, outcome },
            ]
        };
        let back = |to| EventPayload::Rewound {
            to: Sequence(to),
            before: None,
        };
        let mut events = [turn(1, "a"), turn(2, "b"), turn(3, "c")].concat();
        events.push(back(4));
        events.extend(turn(4, "d"));
        assert_eq!(
            told(&events),
            ["user: a", "model: on a", "user: d", "model: on d"]
        );
        events.push(back(17));
        assert_eq!(told(&events).len(), 4, "going back to the present");
        events.push(back(0));
        assert!(told(&events).is_empty());
    }
}
