//! What a binding holds beside the identities.

use everruns_core::workspace::{BindingPayload, WorkspaceBinding, WorkspaceError};
use serde::{Deserialize, Serialize};

use crate::convert;
use crate::error::{GitError, Result};
use crate::state::HeadRecord;

/// The format of the payload.
const FORMAT: u32 = 1;

/// Enough to notice that a binding and a record are not of the same head; the record has the rest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Payload {
    format: u32,
    branch: String,
    base: String,
}

/// The binding of the head of `record`.
pub(super) fn binding(
    record: &HeadRecord,
    backend: &everruns_core::ids::WorkspaceBackendId,
) -> std::result::Result<WorkspaceBinding, WorkspaceError> {
    let payload = Payload {
        format: FORMAT,
        branch: record.branch.clone(),
        base: record.base.clone(),
    };
    let teller = convert::Teller::of("describe a head");
    Ok(WorkspaceBinding {
        provider_id: backend.clone(),
        workspace_id: convert::workspace_id(&record.workspace)
            .map_err(|error| teller.tell(error))?,
        head_id: convert::head_id(&record.id).map_err(|error| teller.tell(error))?,
        access: convert::access(record),
        payload: BindingPayload::new(payload)?,
    })
}

/// Fails unless `binding` was made of the head of `record`.
pub(super) fn check(binding: &WorkspaceBinding, record: &HeadRecord) -> Result<()> {
    let corrupt = |reason: String| Err(GitError::CorruptBinding { reason });
    let payload: Payload = match serde_json::from_value(binding.payload.value().clone()) {
        Ok(payload) => payload,
        Err(failure) => return corrupt(failure.to_string()),
    };
    if payload.format > FORMAT {
        return corrupt(format!(
            "its format {} is newer than {FORMAT}",
            payload.format
        ));
    }
    if payload.branch != record.branch || payload.base != record.base {
        return corrupt("it names another branch or base than the recorded head has".to_owned());
    }
    if binding.access != convert::access(record) {
        return corrupt(format!(
            "the recorded head is {}",
            convert::access(record).as_str()
        ));
    }
    Ok(())
}
