use std::sync::Arc;

use everruns_core::workspace::{
    BindingPayload, MAX_PAYLOAD_BYTES, WorkspaceBinding, WorkspaceError, WorkspaceHead,
    WorkspaceHeadAccess,
};
use serde_json::{Value, json};

use super::Subject;
use super::subject::{holds, put};
use crate::check::{CheckResult, Failure};

/// Proves C14 for a backend
pub(super) async fn are_bounded_and_free_of_credentials(subject: Subject) -> CheckResult {
    let head = subject.head("mine").await?;
    let binding = head.binding();
    ensure_eq!(&binding.provider_id, subject.backend.id(), "the backend");
    ensure_eq!(&binding.workspace_id, head.workspace_id(), "the workspace");
    ensure_eq!(&binding.head_id, head.id(), "the head");
    ensure_eq!(binding.access, head.access(), "the access");
    let text = binding.payload.to_json();
    ensure!(
        text.len() <= MAX_PAYLOAD_BYTES,
        "the payload has {} bytes",
        text.len()
    );
    // Parsing checks the bounds and looks for credentials.
    ensure_eq!(
        BindingPayload::from_json(&text)?,
        binding.payload,
        "the payload read back"
    );
    let json = serde_json::to_string(&binding)?;
    ensure_eq!(
        serde_json::from_str::<WorkspaceBinding>(&json)?,
        binding,
        "the binding read back"
    );
    Ok(())
}

/// Whatever a damaged payload holds, the answer is that very head or a typed error.
pub(super) async fn corrupt_payloads_never_lead_elsewhere(subject: Subject) -> CheckResult {
    let head = subject.head("mine").await?;
    put(&head, "mark", "mine").await?;
    if subject.can.many_heads {
        put(&subject.head("other").await?, "mark", "other").await?;
    }
    let deep = (0..100).fold(Value::Null, |inner, _| json!([inner]));
    let mut payloads = vec![
        Value::Null,
        json!({}),
        json!([]),
        json!("text"),
        json!(-1),
        json!(true),
        json!({"path": "/"}),
        json!({"path": "../../.."}),
        json!({"version": 4_000_000_000_u64}),
        deep,
    ];
    // Each field of the real payload in turn is missing, of another type, or of another value.
    if let Value::Object(real) = head.binding().payload.value() {
        for key in real.keys() {
            for wrong in [
                None,
                Some(Value::Null),
                Some(json!(7)),
                Some(json!("/")),
                Some(json!({})),
            ] {
                let mut damaged = real.clone();
                match wrong {
                    None => damaged.remove(key),
                    Some(value) => damaged.insert(key.clone(), value),
                };
                payloads.push(Value::Object(damaged));
            }
        }
    }
    for payload in payloads {
        let mut binding = head.binding();
        binding.payload = BindingPayload::new(&payload)?;
        match WorkspaceHead::reopen(Arc::clone(&subject.backend), &binding).await {
            Ok(again) => {
                ensure_eq!(
                    again.id(),
                    head.id(),
                    "the head behind the payload {payload}"
                );
                holds(&again, "mark", Some("mine")).await?;
            }
            Err(error) => ensure!(
                is_typed_refusal(&error),
                "the payload {payload} gave {error:?}"
            ),
        }
    }
    Ok(())
}

fn is_typed_refusal(error: &WorkspaceError) -> bool {
    matches!(
        error,
        WorkspaceError::BindingCorrupt { .. }
            | WorkspaceError::HeadNotFound { .. }
            | WorkspaceError::HeadUnavailable { .. }
            | WorkspaceError::IdentityMismatch { .. }
            | WorkspaceError::WorkspaceNotFound { .. }
    )
}

fn refused_as_typed(result: Result<WorkspaceHead, WorkspaceError>, what: &str) -> CheckResult {
    match result {
        Err(error) if is_typed_refusal(&error) => Ok(()),
        other => Err(Failure::new(format!(
            "{what} gave {:?}",
            other.map(|head| head.id().clone())
        ))),
    }
}

/// Proves C15 for a backend
pub(super) async fn swapped_heads_are_refused(subject: Subject) -> CheckResult {
    if !subject.can.many_heads {
        return Ok(());
    }
    let (one, two) = (subject.head("one").await?, subject.head("two").await?);
    if one.binding().payload == two.binding().payload {
        // The payload says nothing, so a swap is simply the other head's own binding.
        return Ok(());
    }
    let mut swapped = one.binding();
    swapped.head_id = two.id().clone();
    let result = WorkspaceHead::reopen(Arc::clone(&subject.backend), &swapped).await;
    refused_as_typed(result, "the payload of one head under the id of another")
}

pub(super) async fn swapped_workspaces_are_refused(subject: Subject) -> CheckResult {
    let Some(other) = &subject.other else {
        return Ok(());
    };
    let other = subject.backend.open_workspace(other).await?;
    let head = subject.head("mine").await?;
    let mut swapped = head.binding();
    swapped.workspace_id = other.id;
    let result = WorkspaceHead::reopen(Arc::clone(&subject.backend), &swapped).await;
    refused_as_typed(result, "a head under the id of another workspace")
}

pub(super) async fn swapped_access_is_refused(subject: Subject) -> CheckResult {
    let head = subject.head("mine").await?;
    let mut swapped = head.binding();
    swapped.access = match head.access() {
        WorkspaceHeadAccess::Isolated => WorkspaceHeadAccess::Shared,
        WorkspaceHeadAccess::Shared => WorkspaceHeadAccess::Isolated,
    };
    let result = WorkspaceHead::reopen(Arc::clone(&subject.backend), &swapped).await;
    refused_as_typed(result, "a head with another access")
}
