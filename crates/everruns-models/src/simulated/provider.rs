use async_trait::async_trait;
use everruns_core::model::{
    Message, ModelError, ModelErrorKind, ModelProvider, ModelRequest, ModelStream, ToolCall,
};

use super::play;
use super::script::{Simulated, Step};
use super::step::SimulatedStep;

#[async_trait]
impl ModelProvider for Simulated {
    fn name(&self) -> &'static str {
        "simulated"
    }

    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, ModelError> {
        let step = match self.take(&request)? {
            Step::Fixed(step) => step,
            Step::Computed(answer) => answer(&request),
        };
        let calls = self.number(&request, &step);
        if !step.delay.is_zero() {
            tokio::time::sleep(step.delay).await;
        }
        play::play(&step, calls)
    }
}

impl Simulated {
    /// Records the request and takes its step.
    fn take(&self, request: &ModelRequest) -> Result<Step, ModelError> {
        let mut state = self.lock();
        state.requests.push(request.clone());
        if state.repeat && state.next == state.steps.len() {
            state.next = 0;
        }
        let Some(step) = state.steps.get(state.next).cloned() else {
            return Err(used_up(state.steps.len(), state.requests.len()));
        };
        state.next += 1;
        Ok(step)
    }

    /// Gives every call an id that no other call of this model or of the conversation has. A conversation can hold
    /// ids of an earlier process, whose counting began at the same number.
    fn number(&self, request: &ModelRequest, step: &SimulatedStep) -> Vec<ToolCall> {
        let mut state = self.lock();
        let mut fresh = || loop {
            state.calls_made += 1;
            let id = format!("call_{}", state.calls_made);
            if !is_taken(request, &id) {
                return id;
            }
        };
        let calls = step.calls.iter().cloned();
        calls
            .map(|(name, arguments)| ToolCall {
                id: fresh(),
                name,
                arguments,
            })
            .collect()
    }
}

/// Newest first, where most ids of a conversation that goes on are.
fn is_taken(request: &ModelRequest, id: &str) -> bool {
    request.messages.iter().rev().any(|message| match message {
        Message::Assistant { tool_calls, .. } => tool_calls.iter().any(|call| call.id == id),
        _ => false,
    })
}

fn used_up(steps: usize, requests: usize) -> ModelError {
    ModelError::new(
        ModelErrorKind::InvalidRequest,
        format!(
            "the script of the simulated model is used up: it has {steps} steps and this is request {requests}"
        ),
    )
}
