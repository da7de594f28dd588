//! The agent that this command runs.

use std::sync::Arc;

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
