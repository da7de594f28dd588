//! Where the sessions of one kind of head live, for parent and child alike.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use everruns::session::SessionStore;
use everruns::{
    Agent, CheckpointPolicy, DirectoryWorkspaceBackend, Engine, LocalGitWorkspace,
    MemoryWorkspaceBackend, PostgresSessionStore, Simulated, SqliteSessionStore, Workspace,
    WorkspaceBackend, WorkspaceHead, WorkspacePolicy,
};

use crate::model::Speaking;
use crate::project::is_followed;
use crate::random::Random;

/// What heads begin with, in a repository.
pub(crate) const START: &str = "start";

/// How many of a hundred children on Git heads look only at what they changed themselves.
const OWN_CHANGES: u64 = 40;

/// A kind of head.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Kind {
    /// A Git worktree.
    Git,
    /// A folder, shared by its sessions.
    Directory,
    /// Memory, which ends with the process.
    Memory,
}

impl Kind {
    /// Every kind there is.
    pub const ALL: [Self; 3] = [Self::Git, Self::Directory, Self::Memory];
}

impl std::fmt::Display for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Git => "git",
            Self::Directory => "directory",
            Self::Memory => "memory",
        })
    }
}

/// Where the sessions of one kind of head live.
#[derive(Clone, Debug)]
pub struct Place {
    /// The kind.
    pub kind: Kind,
    /// Has a folder for each thing.
    pub folder: PathBuf,
    /// The database, unless it is SQLite in the folder.
    pub postgres: Option<String>,
}

impl Place {
    /// The project: a repository, or a folder.
    pub fn project(&self) -> PathBuf {
        self.folder.join("project")
    }

    /// Opens the store.
    pub(crate) async fn store(&self) -> anyhow::Result<Arc<dyn SessionStore>> {
        Ok(match &self.postgres {
            Some(url) => Arc::new(PostgresSessionStore::connect(url).await?),
            None => Arc::new(SqliteSessionStore::open(self.folder.join("sessions.db")).await?),
        })
    }

    /// An engine as a process that has just begun would have it.
    pub(crate) async fn engine(&self) -> anyhow::Result<Engine> {
        Ok(Engine::builder().store(self.store().await?).build())
    }

    /// The backend, opened anew: it finishes or rolls back what was interrupted.
    pub(crate) fn backend(&self) -> anyhow::Result<Arc<dyn WorkspaceBackend>> {
        let state = self.folder.join("state");
        Ok(match self.kind {
            Kind::Git => Arc::new(LocalGitWorkspace::new(state)?),
            Kind::Directory => Arc::new(DirectoryWorkspaceBackend::open(self.project(), state)?),
            Kind::Memory => Arc::new(MemoryWorkspaceBackend::new()),
        })
    }

    /// A head for a new session.
    pub(crate) async fn head(
        &self,
        backend: Arc<dyn WorkspaceBackend>,
        name: &str,
    ) -> anyhow::Result<WorkspaceHead> {
        let project = self.project();
        let locator = project.to_str().context("the folder's name is Unicode")?;
        let workspace = Workspace::open(backend, locator).await?;
        if self.kind == Kind::Directory {
            // The folder itself is the one head that there is.
            let heads = workspace.heads().await?;
            if let Some(head) = heads.first() {
                return Ok(workspace.open_head(&head.id).await?);
            }
            return Ok(workspace.head(name).shared().create().await?);
        }
        let mut head = workspace.head(name);
        if self.kind == Kind::Git {
            // The project goes on with what is merged into it.
            head = head.from_revision(START);
        }
        Ok(head.create().await?)
    }

    /// The heads that there are, after the backend has recovered what was interrupted.
    pub(crate) async fn workspace(&self) -> anyhow::Result<Workspace> {
        let project = self.project();
        let locator = project.to_str().context("the folder's name is Unicode")?;
        Ok(Workspace::open(self.backend()?, locator).await?)
    }
}

/// How a child with this seed keeps the files of its turns.
pub(crate) fn checkpoints(kind: Kind, seed: u64) -> CheckpointPolicy {
    // Apart from all other choices of the seed.
    let own = Random::new(seed ^ 0x0c4a_46e5).percent(OWN_CHANGES);
    if kind == Kind::Git && own {
        CheckpointPolicy::OwnChanges
    } else {
        CheckpointPolicy::default()
    }
}

/// The agent, playing `script`.
pub(crate) fn agent(
    backend: Arc<dyn WorkspaceBackend>,
    script: Simulated,
) -> anyhow::Result<Agent> {
    agent_keeping(CheckpointPolicy::default(), backend, script)
}

/// The same, with another policy.
pub(crate) fn agent_keeping(
    checkpoints: CheckpointPolicy,
    backend: Arc<dyn WorkspaceBackend>,
    script: Simulated,
) -> anyhow::Result<Agent> {
    let policy = WorkspacePolicy::builder()
        .allow_read("**")
        .allow_write("**")
        .allow_recursive_delete(true)
        .build()?;
    let agent = Agent::builder()
        .instructions("Work.")
        .provider(Speaking(script))
        .model("scripted")
        .checkpoints(checkpoints)
        .workspace_backend(backend)
        .workspace_policy(policy);
    Ok(agent.build()?)
}

/// The files of a folder and all below, apart from Git's own.
pub(crate) fn listed(folder: &Path) -> anyhow::Result<std::collections::BTreeMap<String, String>> {
    let mut found = std::collections::BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(&next)? {
            let path = entry?.path();
            if path.file_name().is_some_and(|name| name == ".git") {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path.strip_prefix(folder)?.to_string_lossy().into_owned();
            if is_followed(&name) {
                let text = String::from_utf8_lossy(&std::fs::read(&path)?).into_owned();
                found.insert(name, text);
            }
        }
    }
    Ok(found)
}
