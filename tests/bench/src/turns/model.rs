use async_trait::async_trait;
use everruns::model::{
    Message, ModelError, ModelEvent, ModelProvider, ModelRequest, ModelStream, StopReason,
    ToolCall, Usage,
};
use futures::{StreamExt as _, stream};
use serde_json::json;

/// Calls one tool and then says that it is done, again and again. What it costs does not depend on the length of the
/// conversation, so that what is measured is the engine.
#[derive(Clone, Debug)]
pub(super) struct Steady;

#[async_trait]
impl ModelProvider for Steady {
    fn name(&self) -> &'static str {
        "steady"
    }

    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, ModelError> {
        let said = matches!(request.messages.last(), Some(Message::ToolResult { .. }));
        let (event, stop) = if said {
            (ModelEvent::TextDelta("Done.".into()), StopReason::EndTurn)
        } else {
            let call = ToolCall {
                id: format!("call-{}", request.messages.len()),
                name: "list_directory".into(),
                arguments: json!({"path": "."}),
            };
            (ModelEvent::ToolCall(call), StopReason::ToolCalls)
        };
        let usage = Usage::default();
        let end = ModelEvent::End { stop, usage };
        Ok(stream::iter([Ok(event), Ok(end)]).boxed())
    }
}
