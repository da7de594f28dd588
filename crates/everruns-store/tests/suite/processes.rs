//! Several processes on one database.

use std::time::Duration;

use everruns_core::clock::Timestamp;
use everruns_core::session::{FencingToken, HeldLease, Lease, LeaseOwner, Sequence, StoreError};
use everruns_core::workspace::WorkspaceHeadAccess::Isolated;

use crate::support::child::{self, Child};
use crate::support::place::Place;
use crate::support::samples::{all_events, append, binding, id, leased, new_session, text_of};

on_each! {
    /// Proves C06 between processes.
    c06_two_processes_cannot_bind_one_isolated_head,
    /// Proves H50 for appends: two processes append at the place that both saw.
    h50_appends_of_two_processes_take_turns,
    /// Proves H53 between processes, with clocks that do not agree: one has the lease, and who was taken over from writes
    /// nothing more.
    h53_a_session_is_handed_over_between_processes,
    /// Whoever comes first makes the schema, and the others find it.
    processes_open_a_fresh_database_at_once,
}

const ROUNDS: usize = 8;

async fn c06_two_processes_cannot_bind_one_isolated_head(place: Place) {
    let store = place.open().await;
    if place.is_child {
        let name = child::argument();
        child::tell("ready");
        for round in 0..ROUNDS {
            child::wait();
            let session = id(&format!("{name}-{round}"));
            let head = binding(&format!("head-{round}"), Isolated);
            match store.bind(&session, head).await {
                Ok(()) => child::tell("bound"),
                Err(StoreError::HeadBound { session, .. }) => child::tell(session.as_str()),
                Err(error) => panic!("{error}"),
            }
        }
        return;
    }
    for round in 0..ROUNDS {
        for name in ["a", "b"] {
            let session = new_session(&format!("{name}-{round}"));
            store.create(session).await.unwrap();
        }
    }
    let mut children = [place.spawn("a"), place.spawn("b")];
    for child in &mut children {
        assert_eq!(child.hear().as_deref(), Some("ready"));
    }
    for round in 0..ROUNDS {
        children.iter_mut().for_each(Child::go);
        let [a, b] = children.each_mut().map(|child| child.hear().unwrap());
        let (winner, told) = match a.as_str() {
            "bound" => ("a", b),
            _ => ("b", a),
        };
        assert_eq!(
            told,
            format!("{winner}-{round}"),
            "the loser is told the winner"
        );
        let record = store.session(&id(&told)).await.unwrap();
        assert_eq!(
            record.binding,
            Some(binding(&format!("head-{round}"), Isolated))
        );
    }
    for child in &mut children {
        assert!(child.wait().success());
    }
}

async fn h50_appends_of_two_processes_take_turns(place: Place) {
    const EACH: usize = 25;
    let store = place.open().await;
    if place.is_child {
        let argument = child::argument();
        let (name, token) = argument.split_once(' ').unwrap();
        let token = FencingToken(token.parse().unwrap());
        child::tell("ready");
        child::wait();
        let mut conflicts = 0_u32;
        let mut last = 0;
        for n in 0..EACH {
            loop {
                match append(store.as_ref(), "s", token, last, &format!("{name}-{n}")).await {
                    Ok(receipt) => {
                        assert_eq!(receipt.first, Sequence(last + 1));
                        last = receipt.last.0;
                        break;
                    }
                    Err(StoreError::SequenceConflict { actual, .. }) => {
                        conflicts += 1;
                        last = actual.0;
                    }
                    Err(error) => panic!("{error}"),
                }
            }
        }
        child::tell(&conflicts.to_string());
        return;
    }
    let token = leased(store.as_ref(), "s").await;
    let mut children = ["a", "b"].map(|name| place.spawn(&format!("{name} {}", token.0)));
    for child in &mut children {
        assert_eq!(child.hear().as_deref(), Some("ready"));
    }
    children.iter_mut().for_each(Child::go);
    let conflicts: u32 = children
        .iter_mut()
        .map(|child| child.hear().unwrap().parse::<u32>().unwrap())
        .sum();
    assert!(conflicts > 0, "the two never met, so nothing is proved");
    let events = all_events(store.as_ref(), "s").await;
    assert_eq!(events.len(), 2 * EACH);
    for name in ["a", "b"] {
        let own: Vec<_> = events
            .iter()
            .map(text_of)
            .filter(|text| text.starts_with(name))
            .collect();
        let expected: Vec<_> = (0..EACH).map(|n| format!("{name}-{n}")).collect();
        assert_eq!(own, expected, "each once and in order");
    }
}

/// The child's clock is an hour ahead, so that it believes the parent's lease to have ended long ago; that alone gives it
/// nothing. By the parent's clock the child's lease runs for an hour more after the child's end; that alone keeps nobody out.
async fn h53_a_session_is_handed_over_between_processes(place: Place) {
    const TERM: Duration = Duration::from_secs(10);
    const NOW: Timestamp = Timestamp::from_millis(1_000_000);
    let ahead = NOW.plus(Duration::from_hours(1));
    let store = place.open().await;
    let session = id("s");
    let seen = |held: Result<Lease, StoreError>| match held {
        Err(StoreError::LeaseHeld {
            owner, expires_at, ..
        }) => HeldLease { owner, expires_at },
        other => panic!("a lease that somebody has was taken: {other:?}"),
    };
    if place.is_child {
        let me = LeaseOwner("child".to_owned());
        child::tell("ready");
        child::wait();
        let held = seen(store.acquire_lease(&session, &me, ahead, TERM).await);
        child::tell("refused");
        child::wait();
        let renewed = store
            .take_over_lease(&session, &me, &held, ahead, TERM)
            .await;
        let held = seen(renewed);
        child::tell("refused");
        child::wait();
        let lease = store
            .take_over_lease(&session, &me, &held, ahead, TERM)
            .await
            .unwrap();
        append(store.as_ref(), "s", lease.token, 1, "of the child")
            .await
            .unwrap();
        child::tell(&lease.token.0.to_string());
        child::wait();
        unreachable!("the parent kills it");
    }
    store.create(new_session("s")).await.unwrap();
    let me = LeaseOwner("parent".to_owned());
    let lease = store.acquire_lease(&session, &me, NOW, TERM).await.unwrap();
    append(store.as_ref(), "s", lease.token, 0, "before")
        .await
        .unwrap();
    let mut child = place.spawn("");
    assert_eq!(child.hear().as_deref(), Some("ready"));
    child.go();
    assert_eq!(child.hear().as_deref(), Some("refused"));
    // At the same moment of the same clock: it is another lease all the same.
    store.acquire_lease(&session, &me, NOW, TERM).await.unwrap();
    child.go();
    assert_eq!(child.hear().as_deref(), Some("refused"));
    child.go();
    let token = FencingToken(child.hear().unwrap().parse().unwrap());
    assert!(token > lease.token);
    let late = append(store.as_ref(), "s", lease.token, 2, "too late").await;
    assert!(matches!(late, Err(StoreError::Fenced { .. })), "{late:?}");
    child.kill();
    let held = seen(store.acquire_lease(&session, &me, NOW, TERM).await);
    let again = store
        .take_over_lease(&session, &me, &held, NOW, TERM)
        .await
        .unwrap();
    assert!(again.token > token);
    append(store.as_ref(), "s", again.token, 2, "after")
        .await
        .unwrap();
    let events = all_events(store.as_ref(), "s").await;
    let texts: Vec<_> = events.iter().map(text_of).collect();
    assert_eq!(texts, ["before", "of the child", "after"]);
}

async fn processes_open_a_fresh_database_at_once(place: Place) {
    if place.is_child {
        child::tell("ready");
        child::wait();
        let store = place.open().await;
        store.create(new_session(&child::argument())).await.unwrap();
        child::tell("done");
        return;
    }
    let mut children = ["a", "b", "c", "d"].map(|name| place.spawn(name));
    for child in &mut children {
        assert_eq!(child.hear().as_deref(), Some("ready"));
    }
    children.iter_mut().for_each(Child::go);
    for child in &mut children {
        assert_eq!(child.hear().as_deref(), Some("done"));
        assert!(child.wait().success());
    }
    let store = place.open().await;
    for name in ["a", "b", "c", "d"] {
        store.session(&id(name)).await.unwrap();
    }
}
