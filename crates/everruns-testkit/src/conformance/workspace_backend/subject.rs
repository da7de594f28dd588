use std::any::Any;
use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use everruns_core::file_system::{Precondition, ReadRange, Removal};
use everruns_core::ids::SessionId;
use everruns_core::path::WorkspacePath;
use everruns_core::workspace::{Workspace, WorkspaceBackend, WorkspaceHead};
use futures::FutureExt as _;
use futures::future::BoxFuture;

use super::Capabilities;
use crate::check::Failure;

type Restart = Arc<dyn Fn() -> BoxFuture<'static, Arc<dyn WorkspaceBackend>> + Send + Sync>;

/// A backend under test over fresh state, and what leads to its workspaces.
#[derive(Clone)]
pub struct Subject {
    pub(super) backend: Arc<dyn WorkspaceBackend>,
    pub(super) locator: String,
    pub(super) can: Capabilities,
    pub(super) spellings: Vec<String>,
    pub(super) other: Option<String>,
    pub(super) bad_locators: Vec<String>,
    restart: Option<Restart>,
    keep: Vec<Arc<dyn Any + Send + Sync>>,
}

impl Subject {
    /// Puts `backend` to the test with the workspace that `locator` leads to.
    pub fn new(backend: Arc<dyn WorkspaceBackend>, locator: impl Into<String>) -> Self {
        Self {
            backend,
            locator: locator.into(),
            can: Capabilities::default(),
            spellings: Vec::new(),
            other: None,
            bad_locators: Vec::new(),
            restart: None,
            keep: Vec::new(),
        }
    }

    /// Says what the backend offers.
    #[must_use]
    pub fn can(mut self, capabilities: Capabilities) -> Self {
        self.can = capabilities;
        self
    }

    /// Adds a locator that leads to the same workspace.
    #[must_use]
    pub fn also_at(mut self, locator: impl Into<String>) -> Self {
        self.spellings.push(locator.into());
        self
    }

    /// Adds a locator that leads to another workspace.
    #[must_use]
    pub fn other_workspace(mut self, locator: impl Into<String>) -> Self {
        self.other = Some(locator.into());
        self
    }

    /// Adds a locator that leads to no workspace.
    #[must_use]
    pub fn bad_locator(mut self, locator: impl Into<String>) -> Self {
        self.bad_locators.push(locator.into());
        self
    }

    /// Says how another process would open the same state. A durable backend needs it.
    #[must_use]
    pub fn restarting<F, Fut>(mut self, open: F) -> Self
    where
        F: Fn() -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Arc<dyn WorkspaceBackend>> + Send + 'static,
    {
        self.restart = Some(Arc::new(move || open().boxed()));
        self
    }

    /// Keeps `value`, such as a temporary folder, until the check has ended.
    #[must_use]
    pub fn keeping(mut self, value: impl Any + Send + Sync) -> Self {
        self.keep.push(Arc::new(value));
        self
    }

    /// A second backend over the same state, if there can be one.
    pub(super) async fn second(&self) -> Option<Arc<dyn WorkspaceBackend>> {
        match &self.restart {
            Some(open) => Some(open().await),
            None => None,
        }
    }

    pub(super) async fn workspace(&self) -> Result<Workspace, Failure> {
        Ok(Workspace::open(Arc::clone(&self.backend), &self.locator).await?)
    }

    /// A new head: isolated where the backend makes such.
    pub(super) async fn head(&self, name: &str) -> Result<WorkspaceHead, Failure> {
        let builder = self.workspace().await?.head(name);
        let builder = if self.can.isolated {
            builder
        } else {
            builder.shared()
        };
        Ok(builder.create().await?)
    }
}

impl fmt::Debug for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subject")
            .field("backend", &self.backend)
            .field("locator", &self.locator)
            .field("can", &self.can)
            .finish_non_exhaustive()
    }
}

pub(super) fn session(text: &str) -> Result<SessionId, Failure> {
    Ok(SessionId::new(text)?)
}

/// Opens the head again through the same backend.
pub(super) async fn reopen(head: &WorkspaceHead) -> Result<WorkspaceHead, Failure> {
    Ok(WorkspaceHead::reopen(Arc::clone(head.backend()), &head.binding()).await?)
}

pub(super) async fn put(head: &WorkspaceHead, path: &str, text: &str) -> Result<(), Failure> {
    let bytes = Bytes::copy_from_slice(text.as_bytes());
    let path = WorkspacePath::parse(path)?;
    head.file_system()
        .write(&path, bytes, Precondition::Any)
        .await?;
    Ok(())
}

/// The text of a file; `None` when there is none.
pub(super) async fn get(head: &WorkspaceHead, path: &str) -> Result<Option<String>, Failure> {
    use everruns_core::file_system::FileSystemError;
    let path = WorkspacePath::parse(path)?;
    match head.file_system().read(&path, ReadRange::ALL).await {
        Ok(content) => Ok(Some(String::from_utf8_lossy(content.bytes()).into_owned())),
        Err(FileSystemError::NotFound { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

pub(super) async fn remove(head: &WorkspaceHead, path: &str) -> Result<(), Failure> {
    let path = WorkspacePath::parse(path)?;
    head.file_system()
        .remove(&path, Removal::Entry, Precondition::Any)
        .await?;
    Ok(())
}

/// Ends the check with a failure unless the file has this text.
pub(super) async fn holds(
    head: &WorkspaceHead,
    path: &str,
    text: Option<&str>,
) -> Result<(), Failure> {
    let found = get(head, path).await?;
    ensure_eq!(found.as_deref(), text, "{path} in {}", head.name());
    Ok(())
}
