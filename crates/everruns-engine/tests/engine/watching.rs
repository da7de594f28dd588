//! Events, updates and history.

use std::time::Duration;

use everruns_core::model::Message;
use everruns_core::session::{EventPayload, PageDirection, Sequence};
use everruns_engine::Engine;
use everruns_engine::session::{HistoryQuery, SessionUpdate};
use futures::StreamExt as _;
use serde_json::json;

use crate::support::{Echo, Script, Step, agent, agent_of};

#[tokio::test]
async fn events_are_replayed_and_then_live_without_gaps_or_duplicates() {
    let script = Script::new((0..20).map(|_| Step::Say("Yes.")));
    let session = Engine::new().create(agent(&script));
    let early = session.events(Sequence::START);
    for _ in 0..10 {
        session.send_and_wait("Once.").await.unwrap();
    }
    let late = session.events(Sequence(7));
    let watch = |events: everruns_engine::session::SessionEvents, from: u64| {
        tokio::spawn(async move {
            let sequences: Vec<u64> = events
                .map(|event| event.unwrap().sequence.0)
                .take_while(|sequence| std::future::ready(*sequence < 81))
                .collect()
                .await;
            assert_eq!(sequences, (from..81).collect::<Vec<_>>());
        })
    };
    let watchers = [watch(early, 1), watch(late, 8)];
    for _ in 0..10 {
        session.send_and_wait("Again.").await.unwrap();
    }
    for watcher in watchers {
        tokio::time::timeout(Duration::from_secs(10), watcher)
            .await
            .unwrap()
            .unwrap();
    }
}

#[tokio::test]
async fn the_streams_end_with_the_last_handle() {
    let session = Engine::new().create(agent(&Script::new([Step::Say("Bye.")])));
    session.send_and_wait("Bye.").await.unwrap();
    let (events, updates) = (session.events(Sequence::START), session.updates());
    drop(session);
    assert_eq!(events.count().await, 5);
    assert_eq!(updates.count().await, 0);
}

#[tokio::test]
async fn updates_tell_of_text_and_tools_as_they_come() {
    let script = Script::new([
        Step::Call(vec![("echo", json!({"x": 1}))]),
        Step::Say("Done."),
    ]);
    let session = Engine::new().create(agent_of(&script).tool(Echo::default()).build().unwrap());
    let updates = session.updates();
    session.send_and_wait("Echo.").await.unwrap();
    drop(session);
    let told: Vec<String> = updates
        .map(|update| match update {
            SessionUpdate::TextDelta { text, .. } => format!("text {text}"),
            SessionUpdate::ToolStarted { call, .. } => format!("started {}", call.name),
            SessionUpdate::ToolEnded { outcome, .. } => format!("ended {outcome:?}"),
            SessionUpdate::Event(event) => match event.payload {
                EventPayload::TurnEnded { .. } => "turn ended".to_owned(),
                _ => "event".to_owned(),
            },
            other => format!("{other:?}"),
        })
        .filter(|told| std::future::ready(told != "event"))
        .collect()
        .await;
    assert_eq!(
        told,
        [
            "started echo",
            "ended Succeeded",
            "text Done.",
            "turn ended"
        ]
    );
}

#[tokio::test]
async fn history_comes_in_pages_either_way() {
    let script = Script::new((0..5).map(|_| Step::Say("Yes.")));
    let session = Engine::new().create(agent(&script));
    for text in ["a", "b", "c", "d", "e"] {
        session.send_and_wait(text).await.unwrap();
    }
    for direction in [PageDirection::Forward, PageDirection::Backward] {
        let mut said = Vec::new();
        let mut from = None;
        loop {
            let query = HistoryQuery {
                from,
                direction,
                limit: 3,
            };
            let page = session.history(query).await.unwrap();
            assert!(page.messages.len() <= 3);
            said.extend(
                page.messages
                    .into_iter()
                    .filter_map(|entry| match entry.message {
                        Message::User { text } => Some(text),
                        _ => None,
                    }),
            );
            from = page.next;
            if from.is_none() {
                break;
            }
        }
        if direction == PageDirection::Backward {
            said.reverse();
        }
        assert_eq!(said, ["a", "b", "c", "d", "e"], "{direction:?}");
    }
    let last = session.history(HistoryQuery::last(1)).await.unwrap();
    assert_eq!(last.messages[0].message, Message::assistant("Yes."));
}
