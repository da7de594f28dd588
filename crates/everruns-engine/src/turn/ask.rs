use everruns_core::entropy::Entropy;
use everruns_core::model::{ModelError, ModelErrorKind, ModelEvent, ModelProvider, ModelRequest};
use futures::StreamExt as _;
use tokio_util::sync::CancellationToken;

use super::answer::Answer;
use super::retry;
use crate::session::{Journal, SessionUpdate};

/// How asking a model ended.
#[derive(Debug)]
pub(super) enum Asked {
    Answered(Answer),
    /// With what it had said by then.
    Cancelled(String),
    Failed(ModelError),
}

/// Asks for one answer, again when the provider's failure may pass. Nothing of a failed attempt is kept.
pub(super) async fn ask<F: Future<Output = ModelRequest>>(
    journal: &Journal,
    provider: &dyn ModelProvider,
    request: impl Fn() -> F,
    turn: u64,
    cancellation: &CancellationToken,
) -> Asked {
    let entropy: &dyn Entropy = journal.entropy();
    let mut attempt = 0;
    loop {
        attempt += 1;
        let mut text = String::new();
        let request = request().await;
        let outcome = tokio::select! {
            biased;
            () = cancellation.cancelled() => return Asked::Cancelled(text),
            outcome = attempt_once(journal, provider, request, turn, &mut text) => outcome,
        };
        let error = match outcome {
            Ok(answer) => return Asked::Answered(answer),
            Err(error) => error,
        };
        let Some(wait) = retry::wait(&error, attempt, entropy) else {
            return Asked::Failed(error);
        };
        tracing::debug!(turn, attempt, %error, "the model is asked again");
        journal.tell(SessionUpdate::Retrying {
            turn,
            reason: error.to_string(),
            wait,
        });
        tokio::select! {
            () = cancellation.cancelled() => return Asked::Cancelled(String::new()),
            () = tokio::time::sleep(wait) => {}
        }
    }
}

async fn attempt_once(
    journal: &Journal,
    provider: &dyn ModelProvider,
    request: ModelRequest,
    turn: u64,
    text: &mut String,
) -> Result<Answer, ModelError> {
    let mut stream = provider.stream(request).await?;
    let mut tool_calls = Vec::new();
    while let Some(event) = stream.next().await {
        match event? {
            ModelEvent::TextDelta(delta) => {
                text.push_str(&delta);
                journal.tell(SessionUpdate::TextDelta { turn, text: delta });
            }
            ModelEvent::ReasoningDelta(delta) => {
                journal.tell(SessionUpdate::ReasoningDelta { turn, text: delta });
            }
            ModelEvent::ToolCall(call) => tool_calls.push(call),
            ModelEvent::End { stop, usage } => {
                return Ok(Answer {
                    text: std::mem::take(text),
                    tool_calls,
                    stop,
                    usage,
                });
            }
            _ => {}
        }
    }
    Err(ModelError::new(
        ModelErrorKind::Truncated,
        format!("the answer of {} broke off before its end", provider.name()),
    ))
}
