use std::any::Any;
use std::sync::Arc;

use super::{Environment, EnvironmentError, Extensions};
use crate::compute::Compute;
use crate::workspace::WorkspaceHead;

/// An environment about to be built. The first mistake is reported by [`build`](Self::build).
#[derive(Debug, Default)]
#[must_use = "nothing is made before `build`"]
pub struct EnvironmentBuilder {
    head: Option<WorkspaceHead>,
    extensions: Extensions,
    compute: Option<Arc<dyn Compute>>,
    mistake: Option<EnvironmentError>,
}

impl EnvironmentBuilder {
    /// Chooses the head.
    pub fn workspace(mut self, head: WorkspaceHead) -> Self {
        if self.head.is_some() {
            self.note(EnvironmentError::HeadAlreadyChosen);
        } else {
            self.head = Some(head);
        }
        self
    }

    /// Adds a value that the session's tools find by its type.
    pub fn extension<T: Any + Send + Sync>(mut self, value: Arc<T>) -> Self {
        if let Err(error) = self.extensions.insert(value) {
            self.note(error);
        }
        self
    }

    /// Adds a value made for the chosen head; `make` gets exactly the head that the file tools use.
    ///
    /// # Errors
    /// [`EnvironmentError::MissingHead`] before [`workspace`](Self::workspace), and
    /// [`EnvironmentError::DuplicateExtension`].
    pub fn workspace_extension<T: Any + Send + Sync>(
        mut self,
        make: impl FnOnce(&WorkspaceHead) -> Arc<T>,
    ) -> Result<Self, EnvironmentError> {
        let head = self.head.as_ref().ok_or(EnvironmentError::MissingHead)?;
        let value = make(head);
        self.extensions.insert(value)?;
        Ok(self)
    }

    /// Chooses where commands run.
    pub fn compute(mut self, compute: Arc<dyn Compute>) -> Self {
        if self.compute.is_some() {
            self.note(EnvironmentError::DuplicateCompute);
        } else {
            self.compute = Some(compute);
        }
        self
    }

    /// Builds the environment.
    ///
    /// # Errors
    /// The first mistake made, or [`EnvironmentError::MissingHead`].
    pub fn build(self) -> Result<Environment, EnvironmentError> {
        if let Some(mistake) = self.mistake {
            return Err(mistake);
        }
        let head = self.head.ok_or(EnvironmentError::MissingHead)?;
        Ok(Environment {
            head,
            extensions: self.extensions,
            compute: self.compute,
        })
    }

    fn note(&mut self, mistake: EnvironmentError) {
        self.mistake.get_or_insert(mistake);
    }
}
