use std::time::Duration;

use everruns_core::ids::SessionId;
use everruns_core::model::{StopReason, Usage};
use everruns_core::session::{
    AppendRequest, EventPayload, LeaseOwner, Sequence, SessionStore, TurnOutcome,
};

/// Events of a turn.
const TURN: u64 = 4;

/// Appends whole turns until the session, of which no turn runs, has at least so many events.
pub(crate) async fn lengthen(store: &dyn SessionStore, session: &SessionId, events: u64) {
    let owner = LeaseOwner("writer".to_owned());
    let record = store.session(session).await.unwrap();
    let now = record.updated_at;
    let lease = store
        .acquire_lease(session, &owner, now, Duration::from_secs(1))
        .await
        .unwrap();
    let mut last = record.last_sequence;
    let mut turn = 0;
    while last.0 < events {
        let batch: Vec<_> = (0..250).flat_map(|_| one_turn(&mut turn)).collect();
        let left = usize::try_from((events - last.0).div_ceil(TURN) * TURN).unwrap();
        let request = AppendRequest {
            session: session.clone(),
            token: lease.token,
            expected: last,
            idempotency_key: format!("batch after {last}"),
            at: now,
            events: batch.into_iter().take(left).collect(),
        };
        last = store.append(request).await.unwrap().last;
    }
    store.release_lease(session, lease.token).await.unwrap();
    assert!(last >= Sequence(events));
}

fn one_turn(turn: &mut u64) -> [EventPayload; 4] {
    *turn += 1;
    [
        EventPayload::UserMessage {
            text: format!("Message {turn} of the user."),
        },
        EventPayload::TurnStarted { turn: *turn },
        EventPayload::AssistantMessage {
            turn: *turn,
            text: format!("Answer {turn} of the model."),
            tool_calls: Vec::new(),
            stop: StopReason::EndTurn,
            usage: Usage::default(),
        },
        EventPayload::TurnEnded {
            turn: *turn,
            outcome: TurnOutcome::Completed,
        },
    ]
}
