//! What the public suite leaves open and these stores decide.

use everruns_core::session::{
    AgentSummary, AppendRequest, EventPayload, EventQuery, PageDirection, SessionQuery, StoreError,
};
use everruns_core::workspace::WorkspaceHeadAccess::{Isolated, Shared};

use crate::support::place::Place;
use crate::support::samples::{append, binding, id, lease, leased, new_session, request};

on_each! {
    /// A process that still has the token of a deleted session cannot write into its successor.
    a_token_is_never_given_again,
    the_record_names_the_agent_that_ran_last,
    an_append_without_events_is_refused,
    /// Proves C06 for a head whose bindings disagree about its access.
    c06_no_shared_binding_beside_an_isolated_one,
    enormous_limits_are_no_trouble,
    /// The key is asked first: whoever lost the answer may have lost the lease since.
    h70_a_fenced_writer_still_learns_what_was_applied,
}

async fn a_token_is_never_given_again(place: Place) {
    let store = place.open().await;
    let old = leased(store.as_ref(), "s").await;
    store.delete(&id("s"), Some(old)).await.unwrap();
    let error = append(store.as_ref(), "s", old, 0, "key")
        .await
        .unwrap_err();
    assert!(matches!(error, StoreError::NotFound { .. }), "{error}");
    let new = leased(store.as_ref(), "s").await;
    assert!(new > old);
    let error = append(store.as_ref(), "s", old, 0, "key")
        .await
        .unwrap_err();
    assert!(matches!(error, StoreError::Fenced { .. }), "{error}");
}

async fn the_record_names_the_agent_that_ran_last(place: Place) {
    let store = place.open().await;
    let token = leased(store.as_ref(), "s").await;
    let agent = |name: &str| AgentSummary {
        name: name.to_owned(),
        ..AgentSummary::default()
    };
    let events = vec![
        EventPayload::SessionStarted { agent: agent("a") },
        EventPayload::SessionResumed { agent: agent("b") },
        EventPayload::TurnStarted { turn: 1 },
    ];
    store
        .append(AppendRequest {
            events,
            ..request("s", token, 0, "key")
        })
        .await
        .unwrap();
    append(store.as_ref(), "s", token, 3, "next").await.unwrap();
    let record = store.session(&id("s")).await.unwrap();
    assert_eq!(record.agent, agent("b"));
}

async fn an_append_without_events_is_refused(place: Place) {
    let store = place.open().await;
    let token = leased(store.as_ref(), "s").await;
    let empty = AppendRequest {
        events: Vec::new(),
        ..request("s", token, 0, "key")
    };
    let error = store.append(empty).await.unwrap_err();
    assert!(matches!(error, StoreError::Failed { .. }), "{error}");
    assert!(!error.is_retryable());
}

async fn c06_no_shared_binding_beside_an_isolated_one(place: Place) {
    let store = place.open().await;
    for (head, [first, second]) in [("h", [Isolated, Shared]), ("i", [Shared, Isolated])] {
        let names = ["a", "b"].map(|name| format!("{name}-{head}"));
        for name in &names {
            store.create(new_session(name)).await.unwrap();
        }
        let [a, b] = names.map(|name| id(&name));
        store.bind(&a, binding(head, first)).await.unwrap();
        let error = store.bind(&b, binding(head, second)).await.unwrap_err();
        match error {
            StoreError::HeadBound { session, .. } => assert_eq!(session, a),
            other => panic!("{other}"),
        }
    }
}

async fn enormous_limits_are_no_trouble(place: Place) {
    let store = place.open().await;
    let token = leased(store.as_ref(), "s").await;
    append(store.as_ref(), "s", token, 0, "key").await.unwrap();
    for direction in [PageDirection::Forward, PageDirection::Backward] {
        let query = EventQuery {
            from: None,
            direction,
            limit: u32::MAX,
        };
        let page = store.events(&id("s"), query).await.unwrap();
        assert_eq!((page.events.len(), page.next), (1, None));
    }
    let query = SessionQuery {
        limit: u32::MAX,
        ..SessionQuery::default()
    };
    assert_eq!(store.sessions(query).await.unwrap().sessions.len(), 1);
}

async fn h70_a_fenced_writer_still_learns_what_was_applied(place: Place) {
    let store = place.open().await;
    let old = leased(store.as_ref(), "s").await;
    append(store.as_ref(), "s", old, 0, "key").await.unwrap();
    let new = lease(store.as_ref(), "s", "other", 1_000_000).await;
    append(store.as_ref(), "s", new, 1, "next").await.unwrap();
    let receipt = append(store.as_ref(), "s", old, 0, "key").await.unwrap();
    assert!(receipt.replayed);
    assert_eq!((receipt.first.0, receipt.last.0), (1, 1));
}
