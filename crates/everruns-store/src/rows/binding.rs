use everruns_core::ids::{SessionId, WorkspaceBackendId, WorkspaceHeadId, WorkspaceId};
use everruns_core::session::StoreError;
use everruns_core::workspace::{BindingPayload, WorkspaceBinding, WorkspaceHeadAccess};

/// The columns of a binding; all are null when the session is not bound.
#[derive(Debug, sqlx::FromRow)]
pub(crate) struct BindingRow {
    provider_id: Option<String>,
    workspace_id: Option<String>,
    head_id: Option<String>,
    access: Option<String>,
    payload: Option<String>,
}

impl BindingRow {
    /// The binding, or what is wrong with it. No part of the payload is in the error.
    pub(crate) fn into_binding(
        self,
        session: &SessionId,
    ) -> Result<Option<WorkspaceBinding>, StoreError> {
        let (Some(provider), Some(workspace), Some(head), Some(access), Some(payload)) = (
            self.provider_id,
            self.workspace_id,
            self.head_id,
            self.access,
            self.payload,
        ) else {
            return Ok(None);
        };
        let corrupt = |reason: String| StoreError::CorruptRecord {
            session: session.clone(),
            reason,
        };
        let access = match access.as_str() {
            "isolated" => WorkspaceHeadAccess::Isolated,
            "shared" => WorkspaceHeadAccess::Shared,
            other => return Err(corrupt(format!("its binding has the access `{other}`"))),
        };
        Ok(Some(WorkspaceBinding {
            provider_id: WorkspaceBackendId::new(provider)
                .map_err(|error| corrupt(format!("its binding: {error}")))?,
            workspace_id: WorkspaceId::new(workspace)
                .map_err(|error| corrupt(format!("its binding: {error}")))?,
            head_id: WorkspaceHeadId::new(head)
                .map_err(|error| corrupt(format!("its binding: {error}")))?,
            access,
            payload: BindingPayload::from_json(&payload)
                .map_err(|error| corrupt(error.to_string()))?,
        }))
    }
}

/// The session that a row of `workspace_bindings` belongs to.
pub(crate) fn holder_of(session: String) -> Result<SessionId, StoreError> {
    SessionId::new(session).map_err(|error| StoreError::Failed {
        operation: "read a binding",
        source: error.into(),
    })
}
