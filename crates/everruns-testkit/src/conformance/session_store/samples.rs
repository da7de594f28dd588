//! Sessions, bindings and events for the checks.

use std::time::Duration;

use everruns_core::clock::Timestamp;
use everruns_core::ids::{SessionId, WorkspaceBackendId, WorkspaceHeadId, WorkspaceId};
use everruns_core::session::{
    AgentSummary, AppendReceipt, AppendRequest, EventPayload, FencingToken, HeldLease, Lease,
    LeaseOwner, NewSession, Sequence, SessionStore, StoreError,
};
use everruns_core::workspace::{BindingPayload, WorkspaceBinding, WorkspaceHeadAccess};
use serde_json::json;

use super::Subject;
use crate::check::Failure;

/// How long a lease of these checks runs.
pub(super) const TERM: Duration = Duration::from_secs(10);

pub(super) const fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis)
}

pub(super) fn id(text: &str) -> Result<SessionId, Failure> {
    Ok(SessionId::new(text)?)
}

pub(super) fn owner(name: &str) -> LeaseOwner {
    LeaseOwner(name.to_owned())
}

pub(super) fn session(text: &str, created_at: i64) -> Result<NewSession, Failure> {
    Ok(NewSession {
        id: id(text)?,
        title: None,
        agent: AgentSummary {
            name: "agent".to_owned(),
            provider: "provider".to_owned(),
            model: "model".to_owned(),
        },
        created_at: at(created_at),
    })
}

pub(super) fn binding(
    workspace: &str,
    head: &str,
    access: WorkspaceHeadAccess,
) -> Result<WorkspaceBinding, Failure> {
    Ok(WorkspaceBinding {
        provider_id: WorkspaceBackendId::new("test-backend")?,
        workspace_id: WorkspaceId::new(workspace)?,
        head_id: WorkspaceHeadId::new(head)?,
        access,
        payload: BindingPayload::new(
            json!({"path": "/\u{1F980}/x", "n": 9_007_199_254_740_993_u64}),
        )?,
    })
}

pub(super) fn said(text: impl Into<String>) -> EventPayload {
    EventPayload::UserMessage { text: text.into() }
}

/// Records a session and takes its lease at time 1,000.
pub(super) async fn leased(
    subject: &Subject,
    text: &str,
) -> Result<(SessionId, FencingToken), Failure> {
    let id = subject.store.create(session(text, 500)?).await?.id;
    let lease = subject
        .store
        .acquire_lease(&id, &owner("first"), at(1_000), TERM)
        .await?;
    Ok((id, lease.token))
}

/// A lease as somebody sees it who does not have it.
pub(super) fn held(name: &str, end: i64) -> HeldLease {
    HeldLease {
        owner: owner(name),
        expires_at: at(end),
    }
}

/// Takes the lease over at `now`.
pub(super) async fn over(
    subject: &Subject,
    session: &SessionId,
    name: &str,
    held: &HeldLease,
    now: i64,
) -> Result<Lease, StoreError> {
    let store = &subject.store;
    store
        .take_over_lease(session, &owner(name), held, at(now), TERM)
        .await
}

/// Appends one message under a key.
pub(super) async fn append(
    store: &dyn SessionStore,
    session: &SessionId,
    token: FencingToken,
    expected: u64,
    key: &str,
) -> Result<AppendReceipt, StoreError> {
    let request = AppendRequest {
        session: session.clone(),
        token,
        expected: Sequence(expected),
        idempotency_key: key.to_owned(),
        at: at(2_000),
        events: vec![said(key)],
    };
    store.append(request).await
}
