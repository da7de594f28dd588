use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use everruns_core::model::ModelProvider;
use everruns_core::workspace::WorkspaceBackend;
use everruns_fs::{RootAccess, WorkspacePolicy};

use super::{
    Agent, AgentParts, Backends, BuildError, CheckpointPolicy, DEFAULT_NAME, ToolSet, paths,
};
use crate::tool_api::Tool;

/// Model requests of one turn, unless the agent says otherwise.
const DEFAULT_MAX_ITERATIONS: u32 = 50;

/// An agent about to be built; [`build`](Self::build) reports what is wrong.
#[derive(Default)]
#[must_use = "nothing is made before `build`"]
pub struct AgentBuilder {
    name: Option<String>,
    instructions: String,
    provider: Option<Arc<dyn ModelProvider>>,
    model: Option<String>,
    tools: Vec<Arc<dyn Tool>>,
    backends: Vec<Arc<dyn WorkspaceBackend>>,
    directory: Option<PathBuf>,
    policy: Option<WorkspacePolicy>,
    roots: Vec<(String, PathBuf, RootAccess)>,
    seeds: Vec<(String, String, bool)>,
    state_folder: Option<PathBuf>,
    max_iterations: Option<u32>,
    checkpoints: CheckpointPolicy,
}

impl AgentBuilder {
    /// Names it, for people. `agent` when not called.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// What the model is to be and do.
    pub fn instructions(mut self, text: impl Into<String>) -> Self {
        self.instructions = text.into();
        self
    }

    /// Reaches the model. Required.
    pub fn provider(mut self, provider: impl ModelProvider + 'static) -> Self {
        self.provider = Some(Arc::new(provider));
        self
    }

    /// The provider's name of the model. Required.
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// Adds a tool. The file tools need not be added.
    pub fn tool(mut self, tool: impl Tool + 'static) -> Self {
        self.tools.push(Arc::new(tool));
        self
    }

    /// Makes one local folder the head of every session that is given no other: a shared head, so that all of the
    /// agent's sessions see each other's changes. The folder must exist.
    pub fn workspace(mut self, path: impl Into<PathBuf>) -> Self {
        self.directory = Some(path.into());
        self
    }

    /// Registers a backend, so that sessions of another process can be resumed on its heads. A backend with the
    /// id `memory` takes the place of the engine's own.
    pub fn workspace_backend(mut self, backend: Arc<dyn WorkspaceBackend>) -> Self {
        self.backends.push(backend);
        self
    }

    /// Which paths may be read and written. [`WorkspacePolicy::read_only`] when not called.
    pub fn workspace_policy(mut self, policy: WorkspacePolicy) -> Self {
        self.policy = Some(policy);
        self
    }

    /// Mounts a local folder at `/roots/<name>`. It is no head: it has no lineage, and a fork shares it.
    pub fn workspace_root(
        mut self,
        name: impl Into<String>,
        path: impl Into<PathBuf>,
        access: RootAccess,
    ) -> Self {
        self.roots.push((name.into(), path.into(), access));
        self
    }

    /// Puts a file into the head of a session that starts, unless there is one.
    pub fn file(mut self, path: impl Into<String>, text: impl Into<String>) -> Self {
        self.seeds.push((path.into(), text.into(), false));
        self
    }

    /// Shows a file to every session, which cannot change it.
    pub fn readonly_file(mut self, path: impl Into<String>, text: impl Into<String>) -> Self {
        self.seeds.push((path.into(), text.into(), true));
        self
    }

    /// Where locks and records of [`workspace`](Self::workspace) and [`workspace_root`](Self::workspace_root) are
    /// kept; the user's state folder when not called. Processes that share a folder must use the same.
    pub fn state_folder(mut self, path: impl Into<PathBuf>) -> Self {
        self.state_folder = Some(path.into());
        self
    }

    /// At most so many model requests in one turn; 50 when not called.
    pub fn max_iterations(mut self, requests: u32) -> Self {
        self.max_iterations = Some(requests);
        self
    }

    /// When the files of a session's head are kept; on change when not called.
    pub fn checkpoints(mut self, policy: CheckpointPolicy) -> Self {
        self.checkpoints = policy;
        self
    }

    /// Builds the agent. Looks at the folders given; makes nothing but the state folder, when one is needed.
    ///
    /// # Errors
    /// [`BuildError`], the first thing that is wrong.
    pub fn build(self) -> Result<Agent, BuildError> {
        let provider = self.provider.ok_or(BuildError::MissingProvider)?;
        let model = self
            .model
            .filter(|model| !model.trim().is_empty())
            .ok_or(BuildError::MissingModel)?;
        let max_iterations = self.max_iterations.unwrap_or(DEFAULT_MAX_ITERATIONS);
        if max_iterations == 0 {
            return Err(BuildError::NoIterations);
        }
        let mut backends = Backends::default();
        for backend in self.backends {
            backends
                .add(backend)
                .map_err(|taken| BuildError::duplicate_backend(taken.0))?;
        }
        let state = self.state_folder.as_deref();
        let directory = self.directory.map(|path| paths::directory(path, state));
        let directory = directory.transpose()?;
        if let Some(choice) = &directory {
            backends
                .add(choice.backend())
                .map_err(|taken| BuildError::duplicate_backend(taken.0))?;
        }
        Ok(Agent::from_parts(AgentParts {
            name: self.name.unwrap_or_else(|| DEFAULT_NAME.to_owned()),
            instructions: self.instructions,
            provider,
            model,
            tools: ToolSet::new(self.tools)?,
            backends,
            directory,
            policy: self.policy.unwrap_or_else(WorkspacePolicy::read_only),
            roots: paths::roots(self.roots, state)?,
            seeds: paths::seeds(self.seeds)?,
            max_iterations,
            checkpoints: self.checkpoints,
        }))
    }
}

impl fmt::Debug for AgentBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentBuilder")
            .field("name", &self.name)
            .field("model", &self.model)
            .finish_non_exhaustive()
    }
}
