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
        let mut given: Vec<String> = Vec::with_capacity(self.tool_calls.len());
        for (index, call) in self.tool_calls.iter_mut().enumerate() {
            if call.id.is_empty() || given.contains(&call.id) || before.contains(&call.id) {
                call.id = fresh(&format!("call_{turn}_{iteration}_{index}"), |id| {
                    before.contains(id) || given.iter().any(|other| other == id)
                });
            }
            given.push(call.id.clone());
        }
        self
    }
}

/// `id`, or with a number added when a model has made up the same.
fn fresh(id: &str, is_taken: impl Fn(&str) -> bool) -> String {
    let mut found = id.to_owned();
    let mut number = 1;
    while is_taken(&found) {
        number += 1;
        found = format!("{id}_{number}");
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn distinct(before: &[&str], ids: &[&str]) -> Vec<String> {
        let mut known = CallIds::default();
        for id in before {
            known.insert(id);
        }
        let call = |id: &&str| ToolCall {
            id: (*id).to_owned(),
            name: "echo".to_owned(),
            arguments: serde_json::json!({}),
        };
        let answer = Answer {
            tool_calls: ids.iter().map(call).collect(),
            ..Answer::cut(String::new())
        };
        let answer = answer.with_distinct_ids(&known, 2, 1);
        answer.tool_calls.into_iter().map(|call| call.id).collect()
    }

    #[test]
    fn an_id_that_is_missing_or_taken_is_replaced() {
        assert_eq!(distinct(&["a"], &["b", "c"]), ["b", "c"]);
        assert_eq!(distinct(&["a"], &["a", "b"]), ["call_2_1_0", "b"]);
        assert_eq!(distinct(&[], &["a", "a"]), ["a", "call_2_1_1"]);
        assert_eq!(distinct(&[], &["", ""]), ["call_2_1_0", "call_2_1_1"]);
    }

    /// A model that reads ids of ours may make up the next.
    #[test]
    fn an_id_of_ours_that_a_model_has_made_up_is_not_given_again() {
        let ours = "call_2_1_1";
        assert_eq!(distinct(&[], &[ours, ""]), [ours, "call_2_1_1_2"]);
        assert_eq!(distinct(&[ours], &["a", ""]), ["a", "call_2_1_1_2"]);
        assert_eq!(
            distinct(&[ours, "call_2_1_1_2"], &["a", ours]),
            ["a", "call_2_1_1_3"]
        );
    }
}
