//! Futures that are dropped in the middle.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use everruns_core::session::{
    EventPayload, ForkRequest, LeaseOwner, Sequence, SessionQuery, StoreError,
};
use everruns_core::workspace::WorkspaceHeadAccess::Isolated;

use crate::support::place::Place;
use crate::support::samples::{
    all_events, append, at, binding, id, lease, leased, new_session, request,
};

on_each! {
    /// Proves H55 for appends.
    h55_a_dropped_append_is_applied_once_or_not_at_all,
    /// Proves H55 for bindings and deletions.
    h55_a_dropped_bind_or_delete_is_done_or_not,
    /// Proves H55 for new sessions and their titles.
    h55_a_dropped_create_or_title_is_done_or_not,
    /// Proves H55 for leases.
    h55_a_dropped_lease_is_taken_or_given_up_or_not,
    /// Proves H55 for forks.
    h55_a_dropped_fork_is_whole_or_not_there,
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
        poll_and_drop(store.delete(&id(&name), None), round % 10).await;
        // Either is right; afterwards it is gone, and the connections still work.
        drop(store.delete(&id(&name), None).await);
        assert!(store.session(&id(&name)).await.is_err());
    }
}

async fn h55_a_dropped_create_or_title_is_done_or_not(place: Place) {
    let store = place.open().await;
    for round in 0..20 {
        let name = format!("s-{round}");
        poll_and_drop(store.create(new_session(&name)), round % 10).await;
        match store.create(new_session(&name)).await {
            Ok(_) | Err(StoreError::AlreadyExists { .. }) => {}
            Err(error) => panic!("round {round}: {error}"),
        }
        let record = store.session(&id(&name)).await.unwrap();
        assert_eq!((record.binding, record.last_sequence.0), (None, 0));
        poll_and_drop(store.set_title(&id(&name), "dropped"), round % 10).await;
        let title = store.session(&id(&name)).await.unwrap().title;
        assert!(
            title.as_deref().is_none_or(|title| title == "dropped"),
            "{title:?}"
        );
        // The dropped change may still come, after this one, but only once.
        let mut titles = Vec::new();
        while titles.last().is_none_or(|title| title != "kept") {
            assert!(titles.len() < 3, "round {round}: {titles:?}");
            store.set_title(&id(&name), "kept").await.unwrap();
            let title = store.session(&id(&name)).await.unwrap().title;
            titles.push(title.expect("a title was given"));
        }
    }
    let all = store.sessions(SessionQuery::default()).await.unwrap();
    assert_eq!(all.sessions.len(), 20);
}

async fn h55_a_dropped_lease_is_taken_or_given_up_or_not(place: Place) {
    let store = place.open().await;
    store.create(new_session("s")).await.unwrap();
    let session = id("s");
    for round in 0..20_u64 {
        let polls = usize::try_from(round % 10).unwrap();
        let owner = |name: &str| LeaseOwner(format!("{name}-{round}"));
        let take = async |owner: LeaseOwner| {
            let term = Duration::from_mins(1);
            store.acquire_lease(&session, &owner, at(1), term).await
        };
        poll_and_drop(take(owner("one")), polls).await;
        // Whether or not it was taken: its owner has it now, nobody else can, and it is good for writing.
        let token = take(owner("one")).await.unwrap().token;
        let held = take(owner("other")).await;
        assert!(
            matches!(held, Err(StoreError::LeaseHeld { .. })),
            "round {round}: {held:?}"
        );
        append(
            store.as_ref(),
            "s",
            token,
            2 * round,
            &format!("{round} one"),
        )
        .await
        .unwrap();
        poll_and_drop(store.release_lease(&session, token), polls).await;
        store.release_lease(&session, token).await.unwrap();
        let next = match take(owner("other")).await {
            // The attempt whose future was dropped has come only now, which it may, once.
            Err(StoreError::LeaseHeld { owner: late, .. }) if late == owner("one") => {
                let late = take(late).await.unwrap().token;
                store.release_lease(&session, late).await.unwrap();
                take(owner("other")).await
            }
            next => next,
        };
        let next = next.unwrap().token;
        let late = append(store.as_ref(), "s", token, 2 * round + 1, "late").await;
        assert!(
            matches!(late, Err(StoreError::Fenced { .. })),
            "round {round}: {late:?}"
        );
        append(
            store.as_ref(),
            "s",
            next,
            2 * round + 1,
            &format!("{round} other"),
        )
        .await
        .unwrap();
        store.release_lease(&session, next).await.unwrap();
    }
    assert_eq!(all_events(store.as_ref(), "s").await.len(), 40);
}

async fn h55_a_dropped_fork_is_whole_or_not_there(place: Place) {
    let store = place.open().await;
    let token = leased(store.as_ref(), "source").await;
    for (place, key) in ["a", "b", "c"].into_iter().enumerate() {
        append(store.as_ref(), "source", token, place as u64, key)
            .await
            .unwrap();
    }
    for round in 0..20 {
        let name = format!("fork-{round}");
        let wish = || ForkRequest {
            source: id("source"),
            token,
            through: Sequence(2),
            session: new_session(&name),
            binding: binding(&name, Isolated),
            events: vec![EventPayload::Forked { from: id("source") }],
        };
        poll_and_drop(store.fork(wish()), round % 10).await;
        // A session that is there is whole.
        if store.session(&id(&name)).await.is_ok() {
            assert_eq!(all_events(store.as_ref(), &name).await.len(), 3);
        }
        match store.fork(wish()).await {
            Ok(_) | Err(StoreError::AlreadyExists { .. }) => {}
            Err(error) => panic!("round {round}: {error}"),
        }
        let record = store.session(&id(&name)).await.unwrap();
        assert_eq!(record.binding, Some(binding(&name, Isolated)));
        assert_eq!(all_events(store.as_ref(), &name).await.len(), 3);
        let own = lease(store.as_ref(), &name, "owner", 1).await;
        append(store.as_ref(), &name, own, 3, "own").await.unwrap();
    }
    append(store.as_ref(), "source", token, 3, "d")
        .await
        .unwrap();
}
