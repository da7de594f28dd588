//! Names from before backends were called backends. Each forwards to its replacement.
//!
//! | deprecated | use |
//! |---|---|
//! | [`WorkspaceProvider`] | [`WorkspaceBackend`](crate::WorkspaceBackend) |
//! | [`WorkspaceProviderId`] | [`WorkspaceBackendId`](crate::WorkspaceBackendId) |
//! | [`LocalGitWorkspaceProvider`] | [`LocalGitWorkspace`](crate::LocalGitWorkspace) |
//! | [`AgentBuilderCompat::workspace_provider`] | [`AgentBuilder::workspace_backend`](crate::AgentBuilder::workspace_backend) |
//! | [`WorkspaceHeadCompat::provider`] | [`WorkspaceHead::backend`](crate::WorkspaceHead::backend) |
//!
//! The error enums have provider-named and backend-named variants side by side. During the deprecation window the
//! framework and the built-in backends emit the provider-named ones, so code that matches them goes on to work; match
//! both to be ready. Persisted names ([`WorkspaceBinding::provider_id`](crate::WorkspaceBinding::provider_id), the SQL
//! columns, the state folder `workspace-provider`) do not change.

use std::sync::Arc;

/// Deprecated: use [`WorkspaceBackend`](crate::WorkspaceBackend). It is the same trait, so code that implements
/// it under this name keeps compiling.
pub use everruns_core::workspace::WorkspaceBackend as WorkspaceProvider;

/// The former name of [`WorkspaceBackendId`](crate::WorkspaceBackendId).
#[deprecated(since = "0.1.0", note = "use `WorkspaceBackendId`")]
pub type WorkspaceProviderId = crate::WorkspaceBackendId;

/// The former name of [`LocalGitWorkspace`](crate::LocalGitWorkspace).
#[cfg(feature = "git")]
#[deprecated(since = "0.1.0", note = "use `LocalGitWorkspace`")]
pub type LocalGitWorkspaceProvider = crate::LocalGitWorkspace;

/// The former methods of [`AgentBuilder`](crate::AgentBuilder).
pub trait AgentBuilderCompat: Sized {
    /// The former name of [`AgentBuilder::workspace_backend`](crate::AgentBuilder::workspace_backend).
    #[must_use]
    #[deprecated(since = "0.1.0", note = "use `AgentBuilder::workspace_backend`")]
    fn workspace_provider(self, provider: Arc<dyn WorkspaceProvider>) -> Self;
}

impl AgentBuilderCompat for crate::AgentBuilder {
    fn workspace_provider(self, provider: Arc<dyn WorkspaceProvider>) -> Self {
        self.workspace_backend(provider)
    }
}

/// The former methods of [`WorkspaceHead`](crate::WorkspaceHead).
pub trait WorkspaceHeadCompat {
    /// The former name of [`WorkspaceHead::backend`](crate::WorkspaceHead::backend).
    #[deprecated(since = "0.1.0", note = "use `WorkspaceHead::backend`")]
    fn provider(&self) -> &Arc<dyn WorkspaceProvider>;
}

impl WorkspaceHeadCompat for crate::WorkspaceHead {
    fn provider(&self) -> &Arc<dyn WorkspaceProvider> {
        self.backend()
    }
}
