//! What any database does with a group, for the drivers' tests.

use std::sync::Arc;
use std::time::Duration;

use everruns_core::clock::Timestamp;
use everruns_core::ids::SessionId;
use everruns_core::session::{
    AgentSummary, AppendReceipt, AppendRequest, EventPayload, EventQuery, FencingToken, LeaseOwner,
    NewSession, Sequence, SessionStore, StoreError,
};

use super::{Answer, Locks, WritesGroups};
use crate::rules::Batch;

fn session(name: &str) -> SessionId {
    SessionId::new(name).unwrap()
}

/// Records sessions of these names, whose tokens are all given.
async fn leased(store: &dyn SessionStore, names: &[&str]) -> Vec<FencingToken> {
    let mut tokens = Vec::new();
    for name in names {
        let id = session(name);
        let at = Timestamp::from_millis(0);
        let new = NewSession {
            id: id.clone(),
            title: None,
            agent: AgentSummary::default(),
            created_at: at,
        };
        store.create(new).await.unwrap();
        let owner = LeaseOwner("test".into());
        let lease = store.acquire_lease(&id, &owner, at, Duration::from_mins(1));
        tokens.push(lease.await.unwrap().token);
    }
    tokens
}

fn started(agent: &str) -> EventPayload {
    let agent = AgentSummary {
        name: agent.into(),
        ..AgentSummary::default()
    };
    EventPayload::SessionStarted { agent }
}

fn message(text: &str) -> EventPayload {
    EventPayload::UserMessage { text: text.into() }
}

fn batch(
    (name, token): (&str, FencingToken),
    expected: u64,
    key: &str,
    events: Vec<EventPayload>,
) -> Arc<Batch> {
    let request = AppendRequest {
        session: session(name),
        token,
        expected: Sequence(expected),
        idempotency_key: key.into(),
        at: Timestamp::from_millis(i64::try_from(expected).unwrap() + 7),
        events,
    };
    Arc::new(Batch::new(request).unwrap())
}

fn one(of: (&str, FencingToken), expected: u64, key: &str) -> Arc<Batch> {
    batch(of, expected, key, vec![message(key)])
}

async fn append<D: WritesGroups>(database: &Arc<D>, batches: Vec<Arc<Batch>>) -> Vec<Answer> {
    let mut answers = Vec::new();
    let together = database
        .append_all(batches.clone().into(), Locks::Skip)
        .await
        .unwrap();
    for (batch, answer) in batches.into_iter().zip(together) {
        let Some(answer) = answer else {
            let alone = database.append_all(Arc::new([batch]), Locks::Await).await;
            answers.push(alone.unwrap().pop().unwrap().unwrap());
            continue;
        };
        answers.push(answer);
    }
    answers
}

fn receipt(first: u64, last: u64, replayed: bool) -> AppendReceipt {
    AppendReceipt {
        first: Sequence(first),
        last: Sequence(last),
        replayed,
    }
}

async fn texts(store: &dyn SessionStore, name: &str) -> Vec<String> {
    let query = EventQuery::after(Sequence::START, 10_000);
    let page = store.events(&session(name), query).await.unwrap();
    assert_eq!(page.next, None);
    let text = |payload| match payload {
        EventPayload::UserMessage { text } => text,
        _ => String::new(),
    };
    page.events
        .into_iter()
        .map(|event| text(event.payload))
        .collect()
}

pub(crate) async fn batches_of_one_session_see_those_before_them<D: WritesGroups>(
    database: &Arc<D>,
    store: &dyn SessionStore,
) {
    let tokens = leased(store, &["first", "second"]).await;
    let (a, b) = (("first", tokens[0]), ("second", tokens[1]));
    let batches = vec![
        batch(a, 0, "1", vec![started("First"), message("2")]),
        one(b, 0, "1"),
        one(a, 2, "3"),
        one(a, 2, "late"),
        batch(a, 3, "4", vec![started("Second")]),
        one(a, 4, "5"),
    ];
    let answers = append(database, batches).await;
    assert_eq!(*answers[0].as_ref().unwrap(), receipt(1, 2, false));
    assert_eq!(*answers[1].as_ref().unwrap(), receipt(1, 1, false));
    assert_eq!(*answers[2].as_ref().unwrap(), receipt(3, 3, false));
    assert!(matches!(
        answers[3],
        Err(StoreError::SequenceConflict {
            expected: Sequence(2),
            actual: Sequence(3),
            ..
        })
    ));
    assert_eq!(*answers[5].as_ref().unwrap(), receipt(5, 5, false));
    assert_eq!(texts(store, "first").await, ["", "2", "3", "", "5"]);
    let record = store.session(&session("first")).await.unwrap();
    assert_eq!(record.last_sequence, Sequence(5));
    assert_eq!(record.updated_at, Timestamp::from_millis(4 + 7));
    assert_eq!(record.agent.name, "Second");
}

/// The time of a session's last change never goes back, whether within a group or after it.
pub(crate) async fn times_do_not_go_back<D: WritesGroups>(
    database: &Arc<D>,
    store: &dyn SessionStore,
) {
    let token = leased(store, &["timed"]).await[0];
    let at = |expected: u64, millis: i64| {
        let timed = one(("timed", token), expected, &expected.to_string());
        let mut batch = Arc::into_inner(timed).unwrap();
        batch.request.at = Timestamp::from_millis(millis);
        Arc::new(batch)
    };
    for group in [vec![at(0, 100), at(1, 50)], vec![at(2, 70)]] {
        for answer in append(database, group).await {
            answer.unwrap();
        }
        let record = store.session(&session("timed")).await.unwrap();
        assert_eq!(record.updated_at, Timestamp::from_millis(100));
    }
}

pub(crate) async fn a_key_is_applied_once_in_a_group_and_in_later_ones<D: WritesGroups>(
    database: &Arc<D>,
    store: &dyn SessionStore,
) {
    let tokens = leased(store, &["keys", "other-keys"]).await;
    let (a, b) = (("keys", tokens[0]), ("other-keys", tokens[1]));
    let batches = || {
        vec![
            batch(a, 0, "1", vec![message("x"), message("y")]),
            batch(a, 0, "1", vec![message("x"), message("y")]),
            one(b, 0, "1"),
            one(a, 9, "1"),
        ]
    };
    let answers = append(database, batches()).await;
    assert_eq!(*answers[0].as_ref().unwrap(), receipt(1, 2, false));
    assert_eq!(*answers[1].as_ref().unwrap(), receipt(1, 2, true));
    assert_eq!(*answers[2].as_ref().unwrap(), receipt(1, 1, false));
    assert_eq!(*answers[3].as_ref().unwrap(), receipt(1, 2, true));
    let answers = append(database, batches()).await;
    assert!(
        answers
            .iter()
            .all(|answer| answer.as_ref().unwrap().replayed)
    );
    assert_eq!(texts(store, "keys").await, ["x", "y"]);
    assert_eq!(texts(store, "other-keys").await, ["1"]);
}

pub(crate) async fn one_that_is_refused_changes_nothing_and_stops_no_other<D: WritesGroups>(
    database: &Arc<D>,
    store: &dyn SessionStore,
) {
    let names = ["before", "refused", "after"];
    let tokens = leased(store, &names).await;
    let wrong = FencingToken(tokens[1].0 + 1);
    let batches = vec![
        one((names[0], tokens[0]), 0, "1"),
        batch((names[1], wrong), 0, "1", vec![started("Wrong")]),
        one(("nobody", tokens[0]), 0, "1"),
        one((names[1], tokens[1]), 0, "1"),
        one((names[2], tokens[2]), 0, "1"),
    ];
    let answers = append(database, batches).await;
    assert!(answers[0].is_ok());
    assert!(matches!(answers[1], Err(StoreError::Fenced { .. })));
    assert!(matches!(answers[2], Err(StoreError::NotFound { .. })));
    assert_eq!(*answers[3].as_ref().unwrap(), receipt(1, 1, false));
    assert!(answers[4].is_ok());
    for name in names {
        assert_eq!(texts(store, name).await, ["1"]);
    }
    let record = store.session(&session("refused")).await.unwrap();
    assert_eq!(record.agent, AgentSummary::default());
}

pub(crate) async fn a_group_may_be_large<D: WritesGroups>(
    database: &Arc<D>,
    store: &dyn SessionStore,
    sessions: usize,
) {
    const EVENTS: u64 = 6_000;
    let names: Vec<String> = (0..=sessions).map(|number| format!("s{number}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let tokens = leased(store, &names).await;
    let expected = || (1..=EVENTS).map(|number| number.to_string());
    let many = expected().map(|text| message(&text)).collect();
    let mut batches = vec![batch((names[0], tokens[0]), 0, "many", many)];
    let others = names.iter().copied().zip(tokens.iter().copied()).skip(1);
    batches.extend(others.map(|of| one(of, 0, "1")));
    batches.push(one((names[0], tokens[0]), EVENTS, "last"));
    let answers = append(database, batches).await;
    assert_eq!(*answers[0].as_ref().unwrap(), receipt(1, EVENTS, false));
    let last = answers.last().unwrap().as_ref().unwrap();
    assert_eq!(*last, receipt(EVENTS + 1, EVENTS + 1, false));
    let expected: Vec<_> = expected().chain(["last".to_owned()]).collect();
    assert_eq!(texts(store, names[0]).await, expected);
    for name in &names[1..] {
        assert_eq!(texts(store, name).await, ["1"]);
    }
}
