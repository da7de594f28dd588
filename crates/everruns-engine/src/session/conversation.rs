use std::collections::VecDeque;

use everruns_core::model::{Message, ToolCall, Usage};
use everruns_core::session::{EventPayload, ToolOutcome};

/// The conversation as a model is to see it, made of the session's events one after the other.
///
/// What the user says while a turn runs is recorded at once, but no provider accepts a user's message between a
/// tool call and its result, nor before an answer that did not know it. Such messages are therefore put after the
/// next answer and its results. The rule looks at the events alone, so that a replay gives the same conversation.
#[derive(Debug, Default)]
pub(crate) struct Conversation {
    messages: Vec<Message>,
    pending: Vec<ToolCall>,
    steering: VecDeque<String>,
    open_turn: Option<u64>,
    turns: u64,
    usage: Usage,
}

impl Conversation {
    /// Takes in what happened next.
    pub(crate) fn apply(&mut self, event: &EventPayload) {
        match event {
            EventPayload::UserMessage { text } if self.open_turn.is_some() => {
                self.steering.push_back(text.clone());
            }
            EventPayload::UserMessage { text } => self.messages.push(Message::user(text)),
            EventPayload::TurnStarted { turn } => {
                self.open_turn = Some(*turn);
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
            EventPayload::TurnEnded { .. } => {
                self.open_turn = None;
                self.steer_when_settled();
            }
            _ => {}
        }
    }

    /// The messages, oldest first. Every tool call is followed by its result, once [`pending`](Self::pending) is
    /// empty.
    pub(crate) fn messages(&self) -> &[Message] {
        &self.messages
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

    fn steer_when_settled(&mut self) {
        if self.pending.is_empty() {
            let said = self.steering.drain(..).map(Message::user);
            self.messages.extend(said);
        }
    }
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
        }
    }

    fn told(events: &[EventPayload]) -> Vec<String> {
        let mut conversation = Conversation::default();
        for event in events {
            conversation.apply(event);
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
}
