use std::time::Duration;

use everruns_core::model::{ModelErrorKind, StopReason, Usage};
use serde_json::Value;

/// The answer of a [`Simulated`](super::Simulated) model to one request.
///
/// It is played in this order: the delay, the text in several deltas, the tool calls, and then its end, or instead of
/// the end a failure or nothing.
#[derive(Clone, Debug, Default)]
pub struct SimulatedStep {
    pub(super) text: String,
    pub(super) reasoning: String,
    pub(super) calls: Vec<(String, Value)>,
    pub(super) stop: Option<StopReason>,
    pub(super) usage: Usage,
    pub(super) failure: Option<ModelErrorKind>,
    pub(super) retry_after: Option<Duration>,
    pub(super) truncated: bool,
    pub(super) delay: Duration,
    pub(super) pace: Duration,
}

impl SimulatedStep {
    /// A step that says nothing and ends.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds to what the model says.
    #[must_use]
    pub fn say(mut self, text: impl AsRef<str>) -> Self {
        self.text.push_str(text.as_ref());
        self
    }

    /// Adds to the reasoning that the model shows; it comes before the text.
    #[must_use]
    pub fn reason(mut self, text: impl AsRef<str>) -> Self {
        self.reasoning.push_str(text.as_ref());
        self
    }

    /// Adds a tool call.
    #[must_use]
    pub fn call(mut self, tool: impl Into<String>, arguments: Value) -> Self {
        self.calls.push((tool.into(), arguments));
        self
    }

    /// Adds several tool calls, made at once.
    #[must_use]
    pub fn calls<T: Into<String>>(mut self, calls: impl IntoIterator<Item = (T, Value)>) -> Self {
        let calls = calls.into_iter();
        self.calls
            .extend(calls.map(|(tool, arguments)| (tool.into(), arguments)));
        self
    }

    /// Sets why the model stops. Without this it is [`StopReason::ToolCalls`] when there are calls, else
    /// [`StopReason::EndTurn`].
    #[must_use]
    pub fn stop(mut self, stop: StopReason) -> Self {
        self.stop = Some(stop);
        self
    }

    /// Sets the usage that the end reports. Without this it is zero.
    #[must_use]
    pub fn usage(mut self, usage: Usage) -> Self {
        self.usage = usage;
        self
    }

    /// Fails with `kind` instead of ending: at once when the step has neither text nor calls, else in the stream
    /// behind them.
    #[must_use]
    pub fn fail(mut self, kind: ModelErrorKind) -> Self {
        self.failure = Some(kind);
        self
    }

    /// Sets how long the failure asks to wait.
    #[must_use]
    pub fn retry_after(mut self, wait: Duration) -> Self {
        self.retry_after = Some(wait);
        self
    }

    /// Lets the stream stop without its end, as a lost connection would.
    #[must_use]
    pub fn truncate(mut self) -> Self {
        self.truncated = true;
        self
    }

    /// Waits before the answer begins.
    #[must_use]
    pub fn delay(mut self, wait: Duration) -> Self {
        self.delay = wait;
        self
    }

    /// Waits before each piece of the answer.
    #[must_use]
    pub fn pace(mut self, wait: Duration) -> Self {
        self.pace = wait;
        self
    }
}
