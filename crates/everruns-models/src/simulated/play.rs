use std::time::Duration;

use everruns_core::model::{ModelError, ModelEvent, ModelStream, StopReason, ToolCall};
use futures::{StreamExt as _, stream};

use super::step::SimulatedStep;

type Piece = Result<ModelEvent, ModelError>;

/// Plays a step whose calls have their ids.
pub(super) fn play(step: &SimulatedStep, calls: Vec<ToolCall>) -> Result<ModelStream, ModelError> {
    let silent = step.text.is_empty() && step.reasoning.is_empty() && calls.is_empty();
    if silent && let Some(failure) = failure(step) {
        return Err(failure);
    }
    let pace = step.pace;
    let pieces = stream::iter(pieces(step, calls));
    Ok(Box::pin(pieces.then(move |piece| paced(piece, pace))))
}

async fn paced(piece: Piece, pace: Duration) -> Piece {
    if !pace.is_zero() {
        tokio::time::sleep(pace).await;
    }
    piece
}

fn pieces(step: &SimulatedStep, calls: Vec<ToolCall>) -> Vec<Piece> {
    let stop = step.stop.unwrap_or(if calls.is_empty() {
        StopReason::EndTurn
    } else {
        StopReason::ToolCalls
    });
    let mut pieces = Vec::new();
    pieces.extend(deltas(&step.reasoning).map(|text| Ok(ModelEvent::ReasoningDelta(text))));
    pieces.extend(deltas(&step.text).map(|text| Ok(ModelEvent::TextDelta(text))));
    pieces.extend(calls.into_iter().map(|call| Ok(ModelEvent::ToolCall(call))));
    if let Some(failure) = failure(step) {
        pieces.push(Err(failure));
    } else if !step.truncated {
        let usage = step.usage;
        pieces.push(Ok(ModelEvent::End { stop, usage }));
    }
    pieces
}

/// Cuts a text into at least four deltas where it is long enough, none longer than a line.
fn deltas(text: &str) -> impl Iterator<Item = String> + '_ {
    let mut characters = text.chars();
    let length = text.chars().count().div_ceil(4).clamp(1, 80);
    std::iter::from_fn(move || {
        let delta: String = characters.by_ref().take(length).collect();
        (!delta.is_empty()).then_some(delta)
    })
}

fn failure(step: &SimulatedStep) -> Option<ModelError> {
    let kind = step.failure?;
    let mut error = ModelError::new(kind, format!("the script says to fail: {kind:?}"));
    error.retry_after = step.retry_after;
    Some(error)
}
