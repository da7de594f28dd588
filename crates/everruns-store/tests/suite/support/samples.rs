use std::time::Duration;

use everruns_core::clock::Timestamp;
use everruns_core::ids::{SessionId, WorkspaceBackendId, WorkspaceHeadId, WorkspaceId};
use everruns_core::session::{
    AgentSummary, AppendReceipt, AppendRequest, EventPayload, EventQuery, FencingToken, HeldLease,
    LeaseOwner, NewSession, Sequence, SessionEvent, SessionStore, StoreError,
};
use everruns_core::workspace::{BindingPayload, WorkspaceBinding, WorkspaceHeadAccess};

pub(crate) fn id(text: &str) -> SessionId {
    SessionId::new(text).unwrap()
}

pub(crate) fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis)
}

pub(crate) fn new_session(text: &str) -> NewSession {
    NewSession {
        id: id(text),
        title: None,
        agent: AgentSummary::default(),
        created_at: at(1),
    }
}

pub(crate) fn binding(head: &str, access: WorkspaceHeadAccess) -> WorkspaceBinding {
    WorkspaceBinding {
        provider_id: WorkspaceBackendId::new("memory").unwrap(),
        workspace_id: WorkspaceId::new("w").unwrap(),
        head_id: WorkspaceHeadId::new(head).unwrap(),
        access,
        payload: BindingPayload::default(),
    }
}

/// Records a session and takes its lease.
pub(crate) async fn leased(store: &dyn SessionStore, text: &str) -> FencingToken {
    store.create(new_session(text)).await.unwrap();
    lease(store, text, "owner", 1).await
}

/// Takes the lease from whoever has it.
pub(crate) async fn lease(
    store: &dyn SessionStore,
    text: &str,
    owner: &str,
    now: i64,
) -> FencingToken {
    let owner = LeaseOwner(owner.to_owned());
    let (session, now, term) = (id(text), at(now), Duration::from_mins(1));
    let lease = match store.acquire_lease(&session, &owner, now, term).await {
        Err(StoreError::LeaseHeld {
            owner: other,
            expires_at,
            ..
        }) => {
            let held = HeldLease {
                owner: other,
                expires_at,
            };
            let taken = store.take_over_lease(&session, &owner, &held, now, term);
            taken.await
        }
        taken => taken,
    };
    lease.unwrap().token
}

pub(crate) fn request(text: &str, token: FencingToken, expected: u64, key: &str) -> AppendRequest {
    AppendRequest {
        session: id(text),
        token,
        expected: Sequence(expected),
        idempotency_key: key.to_owned(),
        at: at(2),
        events: vec![EventPayload::UserMessage {
            text: key.to_owned(),
        }],
    }
}

pub(crate) async fn append(
    store: &dyn SessionStore,
    text: &str,
    token: FencingToken,
    expected: u64,
    key: &str,
) -> Result<AppendReceipt, StoreError> {
    store.append(request(text, token, expected, key)).await
}

/// All events of a session, which must have no gap.
pub(crate) async fn all_events(store: &dyn SessionStore, text: &str) -> Vec<SessionEvent> {
    let mut events: Vec<SessionEvent> = Vec::new();
    let mut from = Sequence::START;
    loop {
        let page = store
            .events(&id(text), EventQuery::after(from, 1_000))
            .await
            .unwrap();
        events.extend(page.events);
        match page.next {
            Some(next) => from = next,
            None => break,
        }
    }
    for (place, event) in (1..).zip(&events) {
        assert_eq!(event.sequence, Sequence(place));
    }
    events
}

/// The text of a user's message.
pub(crate) fn text_of(event: &SessionEvent) -> &str {
    match &event.payload {
        EventPayload::UserMessage { text } => text,
        other => panic!("unexpected event {other:?}"),
    }
}
