//! Turns whose process is gone.

use std::sync::Arc;
use std::time::Duration;

use everruns_core::clock::{Clock as _, SystemClock};
use everruns_core::model::Message;
use everruns_core::session::{EventPayload, LeaseOwner, ToolOutcome, TurnOutcome};
use everruns_engine::Engine;

use super::{killed_mid_turn, resumed, store, used};
use crate::support::{Script, Step, agent, memory, recorded};

#[tokio::test]
async fn an_interrupted_turn_is_closed_honestly_and_the_conversation_stays_valid() {
    let (store, backend) = (store(), memory());
    let id = used(&store, &backend).await;
    killed_mid_turn(&store, &id, "someone elsewhere").await;
    let script = Script::new([Step::Say("I go on.")]);
    let session = resumed(&store, &backend, &id, &script).await;
    let events = recorded(&session).await;
    let end = &events[events.len() - 4..];
    for (event, call) in end.iter().zip(["open-1", "open-2"]) {
        let EventPayload::ToolResult {
            call_id,
            outcome,
            output,
            ..
        } = event
        else {
            panic!("{event:?}");
        };
        assert_eq!((call_id.as_str(), *outcome), (call, ToolOutcome::Unknown));
        assert!(output.contains("Check the present state"));
    }
    assert_eq!(
        end[2],
        EventPayload::TurnEnded {
            turn: 2,
            outcome: TurnOutcome::Interrupted
        }
    );
    assert!(matches!(end[3], EventPayload::SessionResumed { .. }));
    let turn = session.send_and_wait("continue").await.unwrap();
    assert_eq!((turn.success, turn.number), (true, 3));
    let told = &script.requests()[0].messages;
    let results: Vec<_> = told
        .iter()
        .skip_while(|message| !matches!(message, Message::Assistant { tool_calls, .. } if !tool_calls.is_empty()))
        .skip(1)
        .take_while(|message| matches!(message, Message::ToolResult { .. }))
        .collect();
    assert_eq!(results.len(), 3, "every call is followed by its result");
}

#[tokio::test]
async fn the_lease_of_a_dead_process_is_taken_over_at_once() {
    let (store, backend) = (store(), memory());
    let id = used(&store, &backend).await;
    // A process number that no process can have, on this very host.
    let probe = Engine::builder().store(Arc::clone(&store)).build();
    let session = probe.create(agent(&Script::default()));
    session.start().await.unwrap();
    let held = store
        .acquire_lease(
            session.session_id(),
            &LeaseOwner("me".into()),
            SystemClock.now(),
            Duration::from_secs(1),
        )
        .await
        .unwrap_err();
    let everruns_core::session::StoreError::LeaseHeld { owner, .. } = held else {
        panic!("{held}");
    };
    let ended = owner.0.replacen(
        &format!("process {} ", std::process::id()),
        "process 4194305 ",
        1,
    );
    assert_ne!(ended, owner.0);
    store
        .acquire_lease(
            &id,
            &LeaseOwner(ended),
            SystemClock.now(),
            Duration::from_hours(1),
        )
        .await
        .unwrap();
    let script = Script::new([Step::Say("Mine now.")]);
    let session = tokio::time::timeout(
        Duration::from_secs(5),
        resumed(&store, &backend, &id, &script),
    )
    .await
    .expect("the dead are not waited for");
    assert!(session.send_and_wait("Go on.").await.unwrap().success);
}

/// Proves H53 with clocks that do not agree: how long the lease of a holder that is gone runs by the holder's clock keeps
/// nobody waiting longer than a lease runs.
#[tokio::test]
async fn h53_a_lease_that_ends_in_the_future_is_taken_over_when_nobody_renews_it() {
    let (store, backend) = (store(), memory());
    let id = used(&store, &backend).await;
    store
        .acquire_lease(
            &id,
            &LeaseOwner("someone elsewhere".into()),
            SystemClock.now().plus(Duration::from_hours(1)),
            Duration::from_secs(1),
        )
        .await
        .unwrap();
    let script = Script::new([Step::Say("Mine now.")]);
    let waiting = resumed(&store, &backend, &id, &script);
    let session = tokio::time::timeout(Duration::from_secs(5), waiting)
        .await
        .expect("a clock that is ahead keeps nobody out");
    assert!(session.send_and_wait("Go on.").await.unwrap().success);
}
