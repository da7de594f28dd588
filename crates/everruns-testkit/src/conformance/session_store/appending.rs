use everruns_core::model::{StopReason, ToolCall, Usage};
use everruns_core::session::{
    AgentSummary, AppendRequest, EventPayload, EventQuery, FencingToken, Sequence, StoreError,
    ToolOutcome, TurnOutcome,
};

use super::Subject;
use super::samples::{append, at, leased, said};
use crate::check::CheckResult;

pub(super) async fn sequences_have_no_gaps(subject: Subject) -> CheckResult {
    let (id, token) = leased(&subject, "ses_a").await?;
    let mut expected = Sequence::START;
    for (round, count) in [1_u64, 3, 2].into_iter().enumerate() {
        let request = AppendRequest {
            session: id.clone(),
            token,
            expected,
            idempotency_key: format!("key-{round}"),
            at: at(2_000 + i64::try_from(round)?),
            events: (0..count).map(|n| said(format!("{round}-{n}"))).collect(),
        };
        let receipt = subject.store.append(request).await?;
        ensure_eq!(
            receipt.first,
            expected.next(),
            "the first place of round {round}"
        );
        ensure_eq!(
            receipt.last,
            Sequence(expected.0 + count),
            "the last place of round {round}"
        );
        ensure!(!receipt.replayed, "round {round} counts as a repetition");
        expected = receipt.last;
    }
    let record = subject.store.session(&id).await?;
    ensure_eq!(record.last_sequence, Sequence(6), "the record's last place");
    ensure_eq!(record.updated_at, at(2_002), "when the record changed");
    let page = subject
        .store
        .events(&id, EventQuery::after(Sequence::START, 100))
        .await?;
    let places: Vec<_> = page.events.iter().map(|event| event.sequence.0).collect();
    ensure_eq!(places, [1, 2, 3, 4, 5, 6], "the places");
    Ok(())
}

fn all_payloads() -> Vec<EventPayload> {
    let agent = AgentSummary {
        name: "agent".to_owned(),
        ..AgentSummary::default()
    };
    let call = ToolCall {
        id: "call_1".to_owned(),
        name: "read_file".to_owned(),
        arguments: serde_json::json!({"path": "a\u{0}b", "n": 1.5, "deep": [[[]], {"k": null}]}),
    };
    vec![
        EventPayload::SessionStarted {
            agent: agent.clone(),
        },
        EventPayload::SessionResumed { agent },
        said("NUL \u{0}, escape \u{1b}[0m, bidi \u{202e}, crab \u{1F980}, 'quotes' \"\\"),
        said(""),
        said("x".repeat(2_000_000)),
        EventPayload::TurnStarted {
            turn: u64::from(u32::MAX),
        },
        EventPayload::AssistantMessage {
            turn: 1,
            text: "text".to_owned(),
            tool_calls: vec![call],
            stop: StopReason::ToolCalls,
            usage: Usage::default(),
        },
        EventPayload::ToolResult {
            turn: 1,
            call_id: "call_1".to_owned(),
            tool: "read_file".to_owned(),
            output: "line\r\nline\n".to_owned(),
            outcome: ToolOutcome::Unknown,
            data: Some(serde_json::json!({"lines": 2, "next": null})),
        },
        EventPayload::TurnEnded {
            turn: 1,
            outcome: TurnOutcome::Failed {
                reason: "reason".to_owned(),
            },
        },
    ]
}

pub(super) async fn payloads_are_kept_exactly(subject: Subject) -> CheckResult {
    let (id, token) = leased(&subject, "ses_a").await?;
    let events = all_payloads();
    let request = AppendRequest {
        session: id.clone(),
        token,
        expected: Sequence::START,
        idempotency_key: "key".to_owned(),
        at: at(2_000),
        events: events.clone(),
    };
    subject.store.append(request).await?;
    let page = subject
        .store
        .events(&id, EventQuery::after(Sequence::START, 100))
        .await?;
    ensure_eq!(page.events.len(), events.len(), "the number of events");
    for (found, expected) in page.events.into_iter().zip(events) {
        ensure!(
            found.payload == expected,
            "event {} came back changed",
            found.sequence
        );
        ensure_eq!(
            found.at,
            at(2_000),
            "when event {} happened",
            found.sequence
        );
    }
    Ok(())
}

/// Proves H70 in the small
pub(super) async fn a_repeated_key_is_answered(subject: Subject) -> CheckResult {
    let (id, token) = leased(&subject, "ses_a").await?;
    let store = subject.store.as_ref();
    let first = append(store, &id, token, 0, "key-1").await?;
    append(store, &id, token, 1, "key-2").await?;
    let again = append(store, &id, token, 0, "key-1").await?;
    ensure!(again.replayed, "the repetition was applied again");
    ensure_eq!(
        (again.first, again.last),
        (first.first, first.last),
        "its places"
    );
    let record = store.session(&id).await?;
    ensure_eq!(record.last_sequence, Sequence(2), "the last place");
    Ok(())
}

pub(super) async fn a_stale_place_is_refused(subject: Subject) -> CheckResult {
    let (id, token) = leased(&subject, "ses_a").await?;
    let store = subject.store.as_ref();
    append(store, &id, token, 0, "key-1").await?;
    for expected in [0, 2, u64::from(u32::MAX)] {
        let told = Sequence(expected);
        refused!(
            append(store, &id, token, expected, &format!("key {expected}")).await,
            StoreError::SequenceConflict { expected, actual: Sequence(1), .. } if expected == told,
            "appending after {expected}"
        );
    }
    let page = store
        .events(&id, EventQuery::after(Sequence::START, 10))
        .await?;
    ensure_eq!(page.events.len(), 1, "the events");
    // A refused key is not used up.
    append(store, &id, token, 1, "key 0").await?;
    Ok(())
}

pub(super) async fn needs_the_present_lease(subject: Subject) -> CheckResult {
    let (id, token) = leased(&subject, "ses_a").await?;
    let store = subject.store.as_ref();
    for wrong in [FencingToken(0), FencingToken(token.0 + 1)] {
        refused!(
            append(store, &id, wrong, 0, "key").await,
            StoreError::Fenced { presented, .. } if presented == wrong,
            "appending with {wrong:?}"
        );
    }
    store.release_lease(&id, token).await?;
    refused!(
        append(store, &id, token, 0, "key").await,
        StoreError::Fenced { .. },
        "appending after the release"
    );
    ensure_eq!(
        store.session(&id).await?.last_sequence,
        Sequence::START,
        "the last place"
    );
    Ok(())
}

pub(super) async fn keys_belong_to_their_session(subject: Subject) -> CheckResult {
    for text in ["ses_a", "ses_b"] {
        let (id, token) = leased(&subject, text).await?;
        let receipt = append(subject.store.as_ref(), &id, token, 0, "the same key").await?;
        ensure!(
            !receipt.replayed,
            "{text} got the answer of another session"
        );
    }
    Ok(())
}
