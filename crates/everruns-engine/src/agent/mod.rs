//! Behaviour: an [`Agent`] says how sessions think and what they may do, and owns no conversation and no files.

mod backends;
mod builder;
mod checkpoints;
mod error;
mod paths;
mod state;
mod toolset;

use std::fmt;
use std::sync::Arc;

use everruns_core::model::{ModelProvider, ToolSpec};
use everruns_core::session::AgentSummary;
use everruns_fs::{SeededFile, WorkspacePolicy, WorkspaceRootSet};
use serde_json::Value;

pub(crate) use backends::{Backends, is_same};
pub use builder::AgentBuilder;
pub use checkpoints::CheckpointPolicy;
pub use error::BuildError;
pub(crate) use paths::DirectoryChoice;
pub(crate) use toolset::ToolSet;

/// The name of an agent that is given none.
pub(crate) const DEFAULT_NAME: &str = "agent";

/// How sessions think and what they may do. Immutable, cheap to clone, and used by any number of sessions.
#[derive(Clone)]
pub struct Agent {
    inner: Arc<AgentParts>,
}

/// What an agent is made of.
pub(crate) struct AgentParts {
    pub(crate) name: String,
    pub(crate) instructions: String,
    pub(crate) provider: Arc<dyn ModelProvider>,
    pub(crate) model: String,
    pub(crate) tools: ToolSet,
    pub(crate) backends: Backends,
    pub(crate) directory: Option<DirectoryChoice>,
    pub(crate) policy: WorkspacePolicy,
    pub(crate) roots: WorkspaceRootSet,
    pub(crate) seeds: Vec<SeededFile>,
    pub(crate) max_iterations: u32,
    pub(crate) checkpoints: CheckpointPolicy,
}

impl Agent {
    /// Begins an agent.
    pub fn builder() -> AgentBuilder {
        AgentBuilder::default()
    }

    pub(crate) fn from_parts(parts: AgentParts) -> Self {
        Self {
            inner: Arc::new(parts),
        }
    }

    pub(crate) fn parts(&self) -> &AgentParts {
        &self.inner
    }

    /// Whether both are clones of one agent.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.inner.name
    }

    /// What it tells the model to be and do.
    pub fn instructions(&self) -> &str {
        &self.inner.instructions
    }

    /// The model's name.
    pub fn model(&self) -> &str {
        &self.inner.model
    }

    /// The provider's name.
    pub fn provider_name(&self) -> &str {
        self.inner.provider.name()
    }

    /// The names of its tools, sorted.
    pub fn tool_names(&self) -> Vec<String> {
        self.inner.tools.names()
    }

    /// What the model is told of its tools, sorted by name.
    pub fn tool_specs(&self) -> Arc<[ToolSpec]> {
        self.inner.tools.specs()
    }

    /// The JSON schema of the facts that calls of a tool record; `None` when there is no such tool, or it records none.
    pub fn tool_output_schema(&self, name: &str) -> Option<Value> {
        self.inner.tools.get(name)?.output_schema()
    }

    /// What a store keeps of it.
    pub fn summary(&self) -> AgentSummary {
        AgentSummary {
            name: self.inner.name.clone(),
            provider: self.provider_name().to_owned(),
            model: self.inner.model.clone(),
        }
    }
}

impl fmt::Debug for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Agent")
            .field("name", &self.inner.name)
            .field("provider", &self.provider_name())
            .field("model", &self.inner.model)
            .field("tools", &self.tool_names())
            .finish_non_exhaustive()
    }
}
