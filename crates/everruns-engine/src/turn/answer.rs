use everruns_core::model::{StopReason, ToolCall, Usage};

use crate::session::CallIds;

/// A model's whole answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) text: String,
    pub(super) tool_calls: Vec<ToolCall>,
    pub(super) stop: StopReason,
    pub(super) usage: Usage,
}

impl Answer {
    /// What was said before a cancellation. Calls that were not executed are left out.
    pub(super) fn cut(text: String) -> Self {
        Self {
            text,
            tool_calls: Vec::new(),
            stop: StopReason::Other,
            usage: Usage::default(),
        }
    }

    /// Gives calls without an id, or with one that another call of the conversation has, ids of their own: results
    /// are matched by id, and some models number the calls of each answer anew.
    pub(super) fn with_distinct_ids(mut self, before: &CallIds, turn: u64, iteration: u32) -> Self {
        if self.tool_calls.is_empty() {
            return self;
        }
        let mut given = Vec::with_capacity(self.tool_calls.len());
        for (index, call) in self.tool_calls.iter_mut().enumerate() {
            if call.id.is_empty() || given.contains(&call.id) || before.contains(&call.id) {
                call.id = format!("call_{turn}_{iteration}_{index}");
            }
            given.push(call.id.clone());
        }
        self
    }
}
