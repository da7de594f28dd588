use std::sync::Arc;

use everruns_core::model::{ModelError, StopReason, Usage};
use everruns_core::session::TurnOutcome;

/// A turn that has ended and is recorded.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Turn {
    /// Its number in the session, counted from 1.
    pub number: u64,
    /// Whether the model said all it had to say: completed, and not cut by a limit or a filter.
    pub success: bool,
    /// How it ended.
    pub outcome: TurnOutcome,
    /// The model's last words.
    pub response: String,
    /// How often the model was asked.
    pub iterations: u32,
    /// How many tool calls it made.
    pub tool_calls: u32,
    /// What its answers used.
    pub usage: Usage,
    /// Why the model stopped last; `None` when it never answered.
    pub stop: Option<StopReason>,
    /// What the model's provider failed with, when that ended the turn.
    pub error: Option<Arc<ModelError>>,
}

impl Turn {
    pub(crate) fn begun(number: u64) -> Self {
        Self {
            number,
            success: false,
            outcome: TurnOutcome::Interrupted,
            response: String::new(),
            iterations: 0,
            tool_calls: 0,
            usage: Usage::default(),
            stop: None,
            error: None,
        }
    }

    pub(crate) fn end(mut self, outcome: TurnOutcome) -> Self {
        let cut = matches!(
            self.stop,
            Some(StopReason::MaxTokens | StopReason::ContentFilter)
        );
        self.success = outcome == TurnOutcome::Completed && !cut;
        self.outcome = outcome;
        self
    }
}
