//! Processes that die in the middle.

use everruns_core::failpoint;
use everruns_core::session::FencingToken;
use everruns_core::workspace::WorkspaceHeadAccess::Isolated;

use crate::support::child;
use crate::support::place::Place;
use crate::support::samples::{
    all_events, append, binding, id, lease, leased, new_session, text_of,
};

on_each! {
    /// Proves H66: what was acknowledged before a SIGKILL is there, once and in order.
    h66_acknowledged_appends_survive_a_kill,
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
    let next = lease(store.as_ref(), "s", "other", 1_000_000).await;
    assert!(next > token);
    let last = u64::try_from(events.len()).unwrap();
    append(store.as_ref(), "s", next, last, "next")
        .await
        .unwrap();
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
