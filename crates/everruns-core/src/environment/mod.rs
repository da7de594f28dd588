//! What one session executes on, beginning with exactly one head.

mod builder;
mod error;
mod extensions;

use std::any::Any;
use std::sync::Arc;

pub use builder::EnvironmentBuilder;
pub use error::EnvironmentError;
use extensions::Extensions;

use crate::compute::Compute;
use crate::workspace::WorkspaceHead;

/// The execution resources of one session: a head, and by type any number of extensions. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Environment {
    head: WorkspaceHead,
    extensions: Extensions,
    compute: Option<Arc<dyn Compute>>,
}

impl Environment {
    /// An environment of a head alone.
    pub fn new(head: WorkspaceHead) -> Self {
        Self {
            head,
            extensions: Extensions::default(),
            compute: None,
        }
    }

    /// Begins an environment.
    pub fn builder() -> EnvironmentBuilder {
        EnvironmentBuilder::default()
    }

    /// The head: the very one that the file tools use.
    pub fn workspace_head(&self) -> &WorkspaceHead {
        &self.head
    }

    /// Where commands run, when anywhere.
    pub fn compute(&self) -> Option<&Arc<dyn Compute>> {
        self.compute.as_ref()
    }

    /// The extension of type `T`.
    pub fn extension<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        self.extensions.get()
    }
}
