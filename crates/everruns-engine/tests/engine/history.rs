//! What is told of the messages on record.

use std::sync::Arc;
use std::time::Duration;

use everruns_core::model::{Message, StopReason, ToolCall, Usage};
use everruns_core::session::{
    AppendRequest, EventPayload, LeaseOwner, PageDirection, Sequence, SessionStore, ToolOutcome,
    TurnOutcome,
};
use everruns_engine::Session;
use everruns_engine::session::{HistoryMessage, HistoryPage, HistoryQuery, HistoryRewind};
use serde_json::json;

use crate::support::{Script, Step, Watched, agent, engine_over};

const USAGE: Usage = Usage {
    input_tokens: 120,
    cached_input_tokens: 100,
    output_tokens: 7,
};

/// Records events as the session's executor would.
async fn record(store: &dyn SessionStore, session: &Session, events: Vec<EventPayload>) {
    let (id, owner) = (session.session_id(), LeaseOwner("writer".to_owned()));
    let record = store.session(id).await.unwrap();
    let now = record.updated_at;
    let lease = store.acquire_lease(id, &owner, now, Duration::from_secs(1));
    let token = lease.await.unwrap().token;
    let request = AppendRequest {
        session: id.clone(),
        token,
        expected: record.last_sequence,
        idempotency_key: format!("after {}", record.last_sequence),
        at: now,
        events,
    };
    store.append(request).await.unwrap();
    store.release_lease(id, token).await.unwrap();
}

fn result(call: &str, outcome: ToolOutcome) -> EventPayload {
    EventPayload::ToolResult {
        turn: 1,
        call_id: call.to_owned(),
        tool: "echo".to_owned(),
        output: format!("output of {call}"),
        outcome,
        data: None,
    }
}

/// A turn with four calls, each of which ended in another way.
fn turn() -> Vec<EventPayload> {
    let calls = ["a", "b", "c", "d"].map(|id| ToolCall {
        id: id.to_owned(),
        name: "echo".to_owned(),
        arguments: json!({"text": id}),
    });
    vec![
        EventPayload::UserMessage {
            text: "Call them.".to_owned(),
        },
        EventPayload::TurnStarted { turn: 1 },
        EventPayload::AssistantMessage {
            turn: 1,
            text: "I call.".to_owned(),
            tool_calls: calls.to_vec(),
            stop: StopReason::ToolCalls,
            usage: USAGE,
        },
        result("a", ToolOutcome::Succeeded),
        result("b", ToolOutcome::Failed),
        result("c", ToolOutcome::Cancelled),
        result("d", ToolOutcome::Unknown),
        EventPayload::TurnEnded {
            turn: 1,
            outcome: TurnOutcome::Interrupted,
        },
    ]
}

/// All pages in one, in the direction asked for.
async fn all(session: &Session, direction: PageDirection, limit: u32) -> HistoryPage {
    let mut whole = HistoryPage::default();
    let mut from = None;
    loop {
        let query = HistoryQuery {
            from,
            direction,
            limit,
        };
        let page = session.history(query).await.unwrap();
        whole.messages.extend(page.messages);
        whole.rewinds.extend(page.rewinds);
        from = page.next;
        if from.is_none() {
            return whole;
        }
    }
}

async fn started(script: &Script) -> (Arc<Watched>, Session) {
    let store = Watched::new();
    let engine = engine_over(&(Arc::clone(&store) as Arc<dyn SessionStore>));
    let session = engine.create(agent(script)).start().await.unwrap();
    session.close().await;
    (store, session)
}

#[tokio::test]
async fn roles_calls_results_outcomes_and_usage_are_told() {
    let (store, session) = started(&Script::default()).await;
    record(store.as_ref(), &session, turn()).await;
    for limit in [1, 2, 100] {
        let page = all(&session, PageDirection::Forward, limit).await;
        let [user, answer, results @ ..] = &page.messages[..] else {
            panic!("{page:?}");
        };
        assert_eq!(user.message, Message::user("Call them."));
        assert_eq!((user.turn, user.usage, user.outcome), (None, None, None));
        let Message::Assistant { text, tool_calls } = &answer.message else {
            panic!("{answer:?}");
        };
        let ids: Vec<_> = tool_calls.iter().map(|call| call.id.as_str()).collect();
        assert_eq!((text.as_str(), ids), ("I call.", vec!["a", "b", "c", "d"]));
        assert_eq!(tool_calls[0].arguments, json!({"text": "a"}));
        let told = (answer.turn, answer.usage, answer.outcome);
        assert_eq!(told, (Some(1), Some(USAGE), None));
        let of = |entry: &HistoryMessage| match &entry.message {
            Message::ToolResult {
                call_id, is_error, ..
            } => (
                call_id.clone(),
                *is_error,
                entry.outcome.unwrap(),
                entry.turn,
            ),
            other => panic!("{other:?}"),
        };
        let expected = [
            ("a".to_owned(), false, ToolOutcome::Succeeded, Some(1)),
            ("b".to_owned(), true, ToolOutcome::Failed, Some(1)),
            ("c".to_owned(), true, ToolOutcome::Cancelled, Some(1)),
            ("d".to_owned(), true, ToolOutcome::Unknown, Some(1)),
        ];
        assert_eq!(results.iter().map(of).collect::<Vec<_>>(), expected);
    }
}

fn said(messages: &[&HistoryMessage]) -> Vec<String> {
    let texts = messages.iter().filter_map(|entry| match &entry.message {
        Message::User { text } => Some(text.clone()),
        _ => None,
    });
    texts.collect()
}

/// What was taken out is still on record, and can be told apart in every direction and size of page.
#[tokio::test]
async fn what_a_rewind_took_out_is_told_apart() {
    let script = Script::new((0..3).map(|_| Step::Say("Yes.")));
    let (_, session) = started(&script).await;
    session.send_and_wait("kept").await.unwrap();
    let kept = session.inspect().await.unwrap().record.last_sequence;
    session.send_and_wait("taken out").await.unwrap();
    session.rewind(kept).await.unwrap();
    session.send_and_wait("instead").await.unwrap();
    for limit in [1, 3, 100] {
        for direction in [PageDirection::Forward, PageDirection::Backward] {
            let page = all(&session, direction, limit).await;
            let [rewind] = &page.rewinds[..] else {
                panic!("{page:?}");
            };
            assert_eq!(rewind.to, kept);
            let mut sorted: Vec<_> = page.messages.iter().collect();
            sorted.sort_by_key(|entry| entry.sequence);
            assert_eq!(said(&sorted), ["kept", "taken out", "instead"]);
            sorted.retain(|entry| !rewind.removes(entry.sequence));
            assert_eq!(said(&sorted), ["kept", "instead"]);
        }
    }
    // One who pages backwards knows of it before what it took out.
    let mut rewinds: Vec<HistoryRewind> = Vec::new();
    let mut from = None;
    loop {
        let query = HistoryQuery {
            from,
            direction: PageDirection::Backward,
            limit: 1,
        };
        let page = session.history(query).await.unwrap();
        rewinds.extend(page.rewinds);
        let gone =
            |entry: &HistoryMessage| rewinds.iter().any(|rewind| rewind.removes(entry.sequence));
        for entry in &page.messages {
            let taken_out = entry.sequence > kept && entry.sequence < Sequence(kept.0 + 5);
            assert_eq!(gone(entry), taken_out, "{entry:?}");
        }
        from = page.next;
        if from.is_none() {
            break;
        }
    }
}
