use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use everruns_core::model::{
    ModelError, ModelErrorKind, ModelEvent, ModelProvider, ModelRequest, ModelStream, StopReason,
    ToolCall, Usage,
};
use futures::{StreamExt as _, stream};
use serde_json::Value;
use tokio::sync::Notify;

/// One answer of the model.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// Says a text and ends.
    Say(&'static str),
    /// Calls tools.
    Call(Vec<(&'static str, Value)>),
    /// Refuses the request.
    Fail(ModelErrorKind),
    /// Says a text, and the stream ends without its end.
    Cut(&'static str),
    /// Says a text, and never ends.
    Hang(&'static str),
    /// Waits until it is let go, and says a text.
    When(Arc<Notify>, &'static str),
    /// Panics.
    Panic,
    /// Says a text and stops for this reason.
    Stop(&'static str, StopReason),
}

/// A model that does as it is told, and remembers what it was asked.
#[derive(Clone, Debug, Default)]
pub(crate) struct Script {
    steps: Arc<Mutex<VecDeque<Step>>>,
    requests: Arc<Mutex<Vec<ModelRequest>>>,
}

impl Script {
    pub(crate) fn new(steps: impl IntoIterator<Item = Step>) -> Self {
        let script = Self::default();
        script.steps.lock().unwrap().extend(steps);
        script
    }

    pub(crate) fn then(&self, step: Step) {
        self.steps.lock().unwrap().push_back(step);
    }

    pub(crate) fn requests(&self) -> Vec<ModelRequest> {
        self.requests.lock().unwrap().clone()
    }

    /// The output of the last tool result that the model was shown.
    pub(crate) fn last_output(&self) -> String {
        let requests = self.requests();
        let messages = &requests.last().unwrap().messages;
        let outputs = messages.iter().filter_map(|message| match message {
            everruns_core::model::Message::ToolResult { output, .. } => Some(output.clone()),
            _ => None,
        });
        outputs.fold(None, |_, output| Some(output)).unwrap()
    }
}

#[async_trait]
impl ModelProvider for Script {
    fn name(&self) -> &'static str {
        "scripted"
    }

    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, ModelError> {
        let asked = {
            let mut requests = self.requests.lock().unwrap();
            requests.push(request);
            requests.len()
        };
        let step = self.steps.lock().unwrap().pop_front();
        let said = |text: &str| Ok(ModelEvent::TextDelta(text.to_owned()));
        let end = |stop| {
            let usage = Usage {
                input_tokens: 10,
                cached_input_tokens: 0,
                output_tokens: 5,
            };
            Ok(ModelEvent::End { stop, usage })
        };
        match step.unwrap_or(Step::Say("(the script is over)")) {
            Step::Say(text) => Ok(stream::iter([said(text), end(StopReason::EndTurn)]).boxed()),
            Step::Stop(text, stop) => Ok(stream::iter([said(text), end(stop)]).boxed()),
            Step::Call(calls) => {
                let mut events: Vec<_> = calls
                    .into_iter()
                    .enumerate()
                    .map(|(index, (name, arguments))| {
                        Ok(ModelEvent::ToolCall(ToolCall {
                            id: format!("call-{asked}-{index}"),
                            name: name.to_owned(),
                            arguments,
                        }))
                    })
                    .collect();
                events.push(end(StopReason::ToolCalls));
                Ok(stream::iter(events).boxed())
            }
            Step::Fail(kind) => Err(ModelError::new(kind, "the script says so")),
            Step::Panic => panic!("a provider of the tests crashes on purpose"),
            Step::Cut(text) => Ok(stream::iter([said(text)]).boxed()),
            Step::Hang(text) => Ok(stream::iter([said(text)]).chain(stream::pending()).boxed()),
            Step::When(go, text) => {
                go.notified().await;
                Ok(stream::iter([said(text), end(StopReason::EndTurn)]).boxed())
            }
        }
    }
}
