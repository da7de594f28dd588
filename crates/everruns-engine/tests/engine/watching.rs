//! Events, updates and history.

use std::sync::Arc;
use std::time::Duration;

use everruns_core::model::Message;
use everruns_core::session::{EventPayload, PageDirection, Sequence, SessionStore};
use everruns_engine::Engine;
use everruns_engine::session::{HistoryQuery, SessionUpdate};
use futures::StreamExt as _;
use serde_json::json;

use crate::support::{Echo, Script, Step, Watched, agent, agent_of, engine_over, head, memory};

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

/// Two engines over one store are as two processes: each learns of the other's events, in order, once.
#[tokio::test]
async fn events_of_another_process_come_without_gap_or_duplicate() {
    let store: Arc<dyn SessionStore> = Watched::durable();
    let backend = memory();
    let script = Script::default();
    let here = engine_over(&store)
        .create(agent(&script))
        .workspace(head(&backend, "x").await);
    here.send_and_wait("here").await.unwrap();
    here.close().await;
    let id = here.session_id().clone();
    let mut events = here.events(Sequence::START);

    let elsewhere = engine_over(&store);
    let agent = agent_of(&script).workspace_backend(Arc::clone(&backend));
    elsewhere.attach(&id, agent.build().unwrap());
    let there = elsewhere.resume(&id).await.unwrap();
    let work = async {
        for number in 0..5 {
            there
                .send_and_wait(format!("there {number}"))
                .await
                .unwrap();
        }
        there.close().await;
        here.send_and_wait("here again").await.unwrap();
        here.inspect().await.unwrap().record.last_sequence
    };
    let (last, seen) = tokio::time::timeout(Duration::from_secs(20), async {
        let (last, seen) = futures::join!(work, async {
            let mut seen = Vec::new();
            while seen.len() < 30 {
                let event = events.next().await.unwrap().unwrap();
                seen.push(event.sequence.0);
            }
            seen
        });
        (last, seen)
    })
    .await
    .unwrap();
    assert_eq!(last.0, 30);
    assert_eq!(seen, (1..=30).collect::<Vec<_>>());
}
