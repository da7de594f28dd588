//! Processes that die in the middle.

use everruns_core::failpoint;
use everruns_core::session::FencingToken;
use everruns_core::workspace::WorkspaceHeadAccess::Isolated;
use futures::future::join_all;

use crate::support::child;
use crate::support::place::Place;
use crate::support::samples::{
    all_events, append, binding, id, lease, leased, new_session, request, text_of,
};

on_each! {
    /// Proves H66: what was acknowledged before a SIGKILL is there, once and in order.
    h66_acknowledged_appends_survive_a_kill,
    /// Proves H66 for appends of many sessions, which share commits: none of a group is lost or there in part.
    h66_acknowledged_appends_of_many_sessions_survive_kills,
    /// Proves H66 and H70 at each step: before the commit nothing is there, after it everything is, and the
    /// repetition with the same key ends up with the event there once.
    h66_an_append_killed_at_each_step_is_applied_once,
    /// Proves H65 for a store: bound or not bound, and binding again succeeds.
    h65_a_bind_killed_at_each_step_is_bound_or_not,
}

async fn h66_acknowledged_appends_survive_a_kill(place: Place) {
    let store = place.open().await;
    if place.is_child {
        let token = FencingToken(child::argument().parse().unwrap());
        for n in 0.. {
            append(store.as_ref(), "s", token, n, &n.to_string())
                .await
                .unwrap();
            child::tell(&n.to_string());
        }
    }
    let token = leased(store.as_ref(), "s").await;
    let mut child = place.spawn(&token.0.to_string());
    for n in 0..20 {
        assert_eq!(child.hear(), Some(n.to_string()));
    }
    child.kill();
    let mut acknowledged = 20;
    while child.hear().is_some() {
        acknowledged += 1;
    }
    drop(store);
    let store = place.open().await;
    // Waits for what a server still does for the process that is gone.
    let next = lease(store.as_ref(), "s", "other", 1_000_000).await;
    let events = all_events(store.as_ref(), "s").await;
    // One more can be there: committed, and killed before it was told.
    let extra = events.len() - acknowledged;
    assert!(
        extra <= 1,
        "{} events, {acknowledged} acknowledged",
        events.len()
    );
    for (n, event) in events.iter().enumerate() {
        assert_eq!(text_of(event), n.to_string());
    }
    // The session goes on under a new lease, and the dead process's token is worth nothing.
    assert!(next > token);
    let last = u64::try_from(events.len()).unwrap();
    append(store.as_ref(), "s", next, last, "next")
        .await
        .unwrap();
}

async fn h66_acknowledged_appends_of_many_sessions_survive_kills(place: Place) {
    const SESSIONS: usize = 12;
    const ROUNDS: u64 = 6;
    let store = place.open().await;
    let name = |session: usize| format!("s{session}");
    if place.is_child {
        let argument = child::argument();
        let mut words = argument.split(' ').map(|word| word.parse::<u64>().unwrap());
        let mut word = || words.next().unwrap();
        let appends = (0..SESSIONS).map(|session| {
            let (token, first) = (FencingToken(word()), word());
            let store = &store;
            async move {
                for n in first.. {
                    // Two events at a time, which are there together or not at all.
                    let mut request = request(&name(session), token, 2 * n, &n.to_string());
                    request.events.push(request.events[0].clone());
                    store.append(request).await.unwrap();
                    child::tell(&format!("{session} {n}"));
                }
            }
        });
        join_all(appends).await;
    }
    let mut tokens = Vec::new();
    for session in 0..SESSIONS {
        tokens.push(leased(store.as_ref(), &name(session)).await);
    }
    let mut there = [0_u64; SESSIONS];
    for round in 0..ROUNDS {
        let orders = tokens.iter().zip(&there);
        let orders = orders.map(|(token, there)| format!("{} {there}", token.0));
        let mut child = place.spawn(&orders.collect::<Vec<_>>().join(" "));
        let mut heard = 0;
        // Each round is ended at another moment of what is written together.
        while let Some(told) = child.hear() {
            let (session, n) = told.split_once(' ').unwrap();
            there[session.parse::<usize>().unwrap()] = n.parse::<u64>().unwrap() + 1;
            heard += 1;
            if heard == 50 + 7 * round {
                child.kill();
            }
        }
        for (session, there) in there.iter_mut().enumerate() {
            // Waits for what a server still does for the process that is gone.
            let owner = format!("after round {round}");
            tokens[session] = lease(store.as_ref(), &name(session), &owner, 1).await;
            let events = all_events(store.as_ref(), &name(session)).await;
            let batches = u64::try_from(events.len()).unwrap() / 2;
            assert_eq!(events.len() % 2, 0, "round {round}: a part of a batch");
            assert!(
                (*there..=*there + 1).contains(&batches),
                "round {round}: {batches} there, {there} acknowledged"
            );
            for (place, event) in events.iter().enumerate() {
                assert_eq!(text_of(event), (place / 2).to_string());
            }
            *there = batches;
        }
    }
}

/// Kills this process when it reaches `step`.
fn die_at(step: String) {
    failpoint::arm(step, || std::process::abort());
}

async fn h66_an_append_killed_at_each_step_is_applied_once(place: Place) {
    let store = place.open().await;
    if place.is_child {
        let argument = child::argument();
        let (step, token) = argument.split_once(' ').unwrap();
        die_at(format!("store.append.{step}"));
        let token = FencingToken(token.parse().unwrap());
        append(store.as_ref(), step, token, 0, "key").await.unwrap();
        unreachable!("the step {step} was not reached");
    }
    for (step, there) in [("before-commit", 0), ("after-commit", 1)] {
        let token = leased(store.as_ref(), step).await;
        let mut child = place.spawn(&format!("{step} {}", token.0));
        assert!(!child.wait().success());
        assert_eq!(all_events(store.as_ref(), step).await.len(), there);
        let receipt = append(store.as_ref(), step, token, 0, "key").await.unwrap();
        assert_eq!(receipt.replayed, there == 1);
        assert_eq!(all_events(store.as_ref(), step).await.len(), 1);
    }
}

async fn h65_a_bind_killed_at_each_step_is_bound_or_not(place: Place) {
    let store = place.open().await;
    if place.is_child {
        let step = child::argument();
        die_at(format!("store.bind.{step}"));
        let head = binding(&step, Isolated);
        store.bind(&id(&step), head).await.unwrap();
        unreachable!("the step {step} was not reached");
    }
    for (step, bound) in [("before-commit", false), ("after-commit", true)] {
        store.create(new_session(step)).await.unwrap();
        let mut child = place.spawn(step);
        assert!(!child.wait().success());
        let record = store.session(&id(step)).await.unwrap();
        assert_eq!(record.binding.is_some(), bound);
        let head = binding(step, Isolated);
        store.bind(&id(step), head.clone()).await.unwrap();
        let record = store.session(&id(step)).await.unwrap();
        assert_eq!(record.binding, Some(head));
    }
}
