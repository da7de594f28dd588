//! The agents that this command runs.

use std::sync::Arc;

use async_trait::async_trait;
use everruns::model::{ModelError, ModelErrorKind, ModelProvider, ModelRequest, ModelStream};
use everruns::session::SessionRecord;
use everruns::{Agent, WorkspaceBackend, WorkspacePolicy};

use crate::failure::Failure;
use crate::provider::Chosen;

const INSTRUCTIONS: &str = "You work on a software project. Its files are under /workspace, a working copy of your own: \
change them freely with the file tools, nobody else's copy is affected. Look before you change, keep changes to what \
the task needs, and say at the end what you did and what is left.";

/// An agent that may read and write the head's files.
pub(crate) fn worker(chosen: Chosen, backend: Arc<dyn WorkspaceBackend>) -> Result<Agent, Failure> {
    Agent::builder()
        .name("everruns")
        .instructions(INSTRUCTIONS)
        .provider(chosen.provider)
        .model(chosen.model)
        .workspace_backend(backend)
        .workspace_policy(WorkspacePolicy::read_write())
        .build()
        .map_err(|error| Failure::of(&error))
}

/// An agent like the one that a session had, for what is done to a session without asking a model.
pub(crate) fn caretaker(
    record: &SessionRecord,
    backend: Arc<dyn WorkspaceBackend>,
) -> Result<Agent, Failure> {
    let before = &record.agent;
    Agent::builder()
        .name(&before.name)
        .instructions(INSTRUCTIONS)
        .provider(NotAsked(before.provider.clone()))
        .model(&before.model)
        .workspace_backend(backend)
        .workspace_policy(WorkspacePolicy::read_write())
        .build()
        .map_err(|error| Failure::of(&error))
}

/// The provider of a session whose model has nothing to say just now: it bears the recorded name and refuses.
#[derive(Debug)]
struct NotAsked(String);

#[async_trait]
impl ModelProvider for NotAsked {
    fn name(&self) -> &str {
        &self.0
    }

    async fn stream(&self, _: ModelRequest) -> Result<ModelStream, ModelError> {
        Err(ModelError::new(
            ModelErrorKind::Configuration,
            "no model is asked by this command",
        ))
    }
}
