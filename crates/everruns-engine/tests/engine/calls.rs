//! Calls whose ids a model gives without care.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use everruns_core::model::{
    Message, ModelError, ModelEvent, ModelProvider, ModelRequest, ModelStream, StopReason,
    ToolCall, Usage,
};
use everruns_core::session::{EventPayload, SessionStore};
use everruns_engine::{Agent, InMemorySessionStore};
use futures::{StreamExt as _, stream};
use serde_json::json;

use crate::support::{Echo, engine_over, head, memory, recorded};

/// Numbers the calls of each answer anew, and gives the first two the same number.
#[derive(Clone, Debug, Default)]
struct Careless {
    requests: Arc<Mutex<Vec<ModelRequest>>>,
}

#[async_trait]
impl ModelProvider for Careless {
    fn name(&self) -> &'static str {
        "careless"
    }

    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, ModelError> {
        let said = matches!(request.messages.last(), Some(Message::ToolResult { .. }));
        self.requests.lock().unwrap().push(request);
        let mut events = Vec::new();
        let stop = if said {
            events.push(Ok(ModelEvent::TextDelta("Done.".into())));
            StopReason::EndTurn
        } else {
            events.extend(["call_0", "call_0", ""].map(|id| {
                Ok(ModelEvent::ToolCall(ToolCall {
                    id: id.into(),
                    name: "echo".into(),
                    arguments: json!({}),
                }))
            }));
            StopReason::ToolCalls
        };
        let usage = Usage::default();
        events.push(Ok(ModelEvent::End { stop, usage }));
        Ok(stream::iter(events).boxed())
    }
}

/// The ids of calls in order, after each of which must come its result.
fn paired(requested: &ModelRequest) -> Vec<String> {
    let (mut ids, mut open) = (Vec::new(), Vec::new());
    for message in requested.messages.iter() {
        match message {
            Message::Assistant { tool_calls, .. } => {
                assert_eq!(open, Vec::<String>::new(), "a call without its result");
                open = tool_calls.iter().map(|call| call.id.clone()).collect();
                ids.extend(open.clone());
            }
            Message::ToolResult { call_id, .. } => assert_eq!(open.remove(0), *call_id),
            _ => {}
        }
    }
    ids
}

/// A provider matches results by id, and refuses a conversation with two calls of one id.
#[tokio::test]
async fn calls_have_distinct_ids_whatever_the_model_says() {
    let store: Arc<dyn SessionStore> = Arc::new(InMemorySessionStore::new());
    let (model, backend) = (Careless::default(), memory());
    let agent = || {
        Agent::builder()
            .provider(model.clone())
            .model("m")
            .tool(Echo::default())
            .workspace_backend(Arc::clone(&backend))
            .build()
            .unwrap()
    };
    let created = engine_over(&store).create(agent());
    let session = created.workspace(head(&backend, "x").await);
    for _ in 0..3 {
        assert!(session.send_and_wait("Call.").await.unwrap().success);
    }
    session.close().await;
    let engine = engine_over(&store);
    engine.attach(session.session_id(), agent());
    let resumed = engine.resume(session.session_id()).await.unwrap();
    for _ in 0..2 {
        assert!(resumed.send_and_wait("Call.").await.unwrap().success);
    }
    let requests = model.requests.lock().unwrap().clone();
    let ids = paired(requests.last().unwrap());
    assert_eq!(ids.len(), 5 * 3);
    assert_eq!(ids[0], "call_0", "one that is free is kept");
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len());
    let results = recorded(&resumed).await.into_iter();
    let results = results.filter_map(|event| match event {
        EventPayload::ToolResult { call_id, .. } => Some(call_id),
        _ => None,
    });
    let results: BTreeSet<String> = results.collect();
    assert_eq!(results, ids.into_iter().collect());
}
