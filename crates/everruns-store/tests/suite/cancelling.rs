//! Futures that are dropped in the middle.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use everruns_core::workspace::WorkspaceHeadAccess::Isolated;

use crate::support::place::Place;
use crate::support::samples::{all_events, append, binding, id, leased, new_session, request};

on_each! {
    /// Proves H55 for appends.
    h55_a_dropped_append_is_applied_once_or_not_at_all,
    /// Proves H55 for bindings and deletions.
    h55_a_dropped_bind_or_delete_is_done_or_not,
}

/// Polls until `polls` polls or the end, with a little time between, then drops.
async fn poll_and_drop<F: Future>(future: F, polls: usize) {
    let mut future = pin!(future);
    for _ in 0..polls {
        let ended = poll_fn(|context| Poll::Ready(future.as_mut().poll(context).is_ready())).await;
        if ended {
            return;
        }
        tokio::time::sleep(Duration::from_micros(300)).await;
    }
}

async fn h55_a_dropped_append_is_applied_once_or_not_at_all(place: Place) {
    let store = place.open().await;
    let token = leased(store.as_ref(), "s").await;
    for round in 0..30_u64 {
        let key = round.to_string();
        let polls = usize::try_from(round % 10).unwrap();
        poll_and_drop(store.append(request("s", token, round, &key)), polls).await;
        // Whether or not it was applied, the repetition knows.
        let receipt = append(store.as_ref(), "s", token, round, &key)
            .await
            .unwrap();
        assert_eq!(receipt.last.0, round + 1);
    }
    assert_eq!(all_events(store.as_ref(), "s").await.len(), 30);
}

async fn h55_a_dropped_bind_or_delete_is_done_or_not(place: Place) {
    let store = place.open().await;
    for round in 0..20 {
        let name = format!("s-{round}");
        store.create(new_session(&name)).await.unwrap();
        let head = binding(&name, Isolated);
        poll_and_drop(store.bind(&id(&name), head.clone()), round % 10).await;
        store.bind(&id(&name), head).await.unwrap();
        poll_and_drop(store.delete(&id(&name), at_end()), round % 10).await;
        // Either is right; afterwards it is gone, and the connections still work.
        drop(store.delete(&id(&name), at_end()).await);
        assert!(store.session(&id(&name)).await.is_err());
    }
}

fn at_end() -> everruns_core::clock::Timestamp {
    crate::support::samples::at(i64::MAX)
}
