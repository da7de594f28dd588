use std::panic::AssertUnwindSafe;

use everruns_core::model::ToolCall;
use everruns_core::session::{EventPayload, ToolOutcome};
use futures::{FutureExt as _, StreamExt as _, stream};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use crate::agent::ToolSet;
use crate::session::{Journal, SessionUpdate};
use crate::tool_api::{Tool, ToolContext};

/// Read-only calls that run at once.
const PARALLEL_CALLS: usize = 8;
/// A longer output is cut: the model would drown in it.
const MAX_OUTPUT_BYTES: usize = 256 * 1024;

/// Longer facts, as JSON, are not recorded.
const MAX_DATA_BYTES: usize = 64 * 1024;

/// How one call ended.
#[derive(Clone, Debug)]
pub(super) struct Ended {
    pub(super) call: ToolCall,
    pub(super) output: String,
    pub(super) outcome: ToolOutcome,
    pub(super) data: Option<Value>,
}

impl Ended {
    /// A call that was not made, or was stopped, because the turn is cancelled.
    pub(super) fn cancelled(call: ToolCall, begun: bool) -> Self {
        let output = if begun {
            "The user cancelled the turn while this call ran. It may have taken effect partly: check the present \
             state before you repeat it."
        } else {
            "The user cancelled the turn before this call was made."
        };
        Self {
            call,
            output: output.to_owned(),
            outcome: ToolOutcome::Cancelled,
            data: None,
        }
    }

    fn failed(call: ToolCall, output: String) -> Self {
        Self {
            call,
            output,
            outcome: ToolOutcome::Failed,
            data: None,
        }
    }

    pub(super) fn into_event(self, turn: u64) -> EventPayload {
        EventPayload::ToolResult {
            turn,
            call_id: self.call.id,
            tool: self.call.name,
            output: self.output,
            outcome: self.outcome,
            data: self.data,
        }
    }
}

/// Cuts `calls` into groups that run one after the other: consecutive read-only calls together, any other alone.
pub(super) fn groups(tools: &ToolSet, calls: Vec<ToolCall>) -> Vec<Vec<ToolCall>> {
    let mut groups: Vec<Vec<ToolCall>> = Vec::new();
    let mut last_reads = false;
    for call in calls {
        let reads = tools.get(&call.name).is_none_or(Tool::is_read_only);
        match groups.last_mut() {
            Some(group) if reads && last_reads => group.push(call),
            _ => groups.push(vec![call]),
        }
        last_reads = reads;
    }
    groups
}

/// Makes the calls of one group.
pub(super) async fn make(
    journal: &Journal,
    tools: &ToolSet,
    context: &ToolContext,
    turn: u64,
    group: Vec<ToolCall>,
) -> Vec<Ended> {
    stream::iter(group)
        .map(|call| make_one(journal, tools, context, turn, call))
        .buffered(PARALLEL_CALLS)
        .collect()
        .await
}

async fn make_one(
    journal: &Journal,
    tools: &ToolSet,
    context: &ToolContext,
    turn: u64,
    call: ToolCall,
) -> Ended {
    journal.tell(SessionUpdate::ToolStarted {
        turn,
        call: call.clone(),
    });
    let ended = match tools.get(&call.name) {
        None => unknown_tool(tools, call),
        Some(tool) => execute(tool.as_ref(), context, call).await,
    };
    journal.tell(SessionUpdate::ToolEnded {
        turn,
        call_id: ended.call.id.clone(),
        tool: ended.call.name.clone(),
        outcome: ended.outcome,
    });
    ended
}

fn unknown_tool(tools: &ToolSet, call: ToolCall) -> Ended {
    let names = tools.names().join(", ");
    let output = if names.is_empty() {
        format!(
            "There is no tool `{}`, nor any other: answer without tools.",
            call.name
        )
    } else {
        format!("There is no tool `{}`. There are: {names}.", call.name)
    };
    Ended::failed(call, output)
}

async fn execute(tool: &dyn Tool, context: &ToolContext, call: ToolCall) -> Ended {
    let arguments = match &call.arguments {
        Value::Object(_) => call.arguments.clone(),
        Value::Null => Value::Object(Map::new()),
        _ => {
            let output = format!(
                "The arguments of `{}` are no JSON object; nothing was done. Call it again with a JSON object \
                 that fits its schema.",
                call.name
            );
            return Ended::failed(call, output);
        }
    };
    let cancellation: &CancellationToken = context.cancellation();
    let made = AssertUnwindSafe(tool.call(context, arguments)).catch_unwind();
    let (output, outcome, data) = tokio::select! {
        biased;
        made = made => match made {
            Ok(Ok(output)) => (output.text, ToolOutcome::Succeeded, output.data),
            Ok(Err(error)) => (error.message, ToolOutcome::Failed, None),
            Err(_) => (
                format!("`{}` crashed. It may have taken effect partly: check before you repeat it.", call.name),
                ToolOutcome::Failed,
                None,
            ),
        },
        () = cancellation.cancelled() => return Ended::cancelled(call, true),
    };
    Ended {
        call,
        output: bounded(output),
        outcome,
        data: data.filter(is_small),
    }
}

fn is_small(data: &Value) -> bool {
    serde_json::to_vec(data).is_ok_and(|json| json.len() <= MAX_DATA_BYTES)
}

fn bounded(output: String) -> String {
    if output.len() <= MAX_OUTPUT_BYTES {
        return output;
    }
    let kept = output.floor_char_boundary(MAX_OUTPUT_BYTES);
    let (shown, _) = output.split_at(kept);
    format!(
        "{shown}\n[cut after {kept} of {} bytes: ask for less at a time]",
        output.len()
    )
}
