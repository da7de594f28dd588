use std::sync::Arc;

use everruns_core::failpoint::hit;
use everruns_core::session::{AppendReceipt, StoreError};
use sqlx::{Sqlite, Transaction};

use super::database::Database;
use super::many::{MOST, Many};
use super::plan::{NewEvent, Note, Plan};
use crate::attempt::{Fault, Repeat};
use crate::rows::AppendRow;
use crate::rules::Batch;

pub(super) const OPERATION: &str = "append events";

/// What became of each batch of a group.
pub(super) type Outcomes = Vec<Result<AppendReceipt, StoreError>>;

/// What appends have to know, by their place in the group: `place, session, key`. The cross join makes SQLite look each
/// session up, whatever it thinks of their number.
static STATES: Many = Many::new(
    "WITH asked (place, session, key) AS (VALUES ",
    "(?, ?, ?)",
    ") SELECT a.place, s.last_seq, l.token, l.owner, e.seq AS applied_first, e.batch_last AS applied_last \
     FROM asked a CROSS JOIN sessions s ON s.id = a.session \
     LEFT JOIN leases l ON l.session_id = s.id \
     LEFT JOIN events e ON e.session_id = s.id AND e.idempotency_key = a.key",
);

/// Adds events: `session, seq, at, payload, key or null, batch_last or null`.
static INSERT: Many = Many::new(
    "INSERT INTO events (session_id, seq, at, payload, idempotency_key, batch_last) \
     SELECT * FROM (VALUES ",
    "(?, ?, ?, ?, ?, ?)",
    ") WHERE column1 IS NOT NULL",
);

/// Notes appends; the time of the last change never goes back: `session, last_seq, updated_at, agent or null`.
static NOTE: Many = Many::new(
    "WITH noted (session, last_seq, at, agent) AS (VALUES ",
    "(?, ?, ?, ?)",
    ") UPDATE sessions SET last_seq = noted.last_seq, updated_at = MAX(sessions.updated_at, noted.at), \
         agent = COALESCE(noted.agent, sessions.agent) \
     FROM noted WHERE sessions.id = noted.session",
);

#[derive(Debug, sqlx::FromRow)]
struct StateRow {
    place: i64,
    #[sqlx(flatten)]
    state: AppendRow,
}

/// Appends all batches with one commit. A batch that the rules refuse changes nothing and does not stop the others;
/// anything else that fails fails all of them.
pub(super) async fn append(
    database: &Arc<Database>,
    batches: Arc<[Arc<Batch>]>,
) -> Result<Outcomes, StoreError> {
    database
        .write(OPERATION, Repeat::Safe, move |database| {
            let batches = Arc::clone(&batches);
            async move { append_once(&database, &batches).await }
        })
        .await
}

async fn append_once(database: &Database, batches: &[Arc<Batch>]) -> Result<Outcomes, Fault> {
    let mut transaction = database.begin().await?;
    let states = states(&mut transaction, batches).await?;
    let plan = Plan::new(batches.iter().map(AsRef::as_ref).zip(states));
    if plan.notes.is_empty() {
        return Ok(plan.outcomes);
    }
    for events in plan.events.chunks(MOST) {
        insert(&mut transaction, events).await?;
    }
    for notes in plan.notes.chunks(MOST) {
        note(&mut transaction, notes).await?;
    }
    hit("store.append.before-commit")?;
    transaction.commit().await?;
    hit("store.append.after-commit")?;
    Ok(plan.outcomes)
}

/// What is stored about each batch's session and key; nothing about a session that is not recorded.
async fn states(
    transaction: &mut Transaction<'static, Sqlite>,
    batches: &[Arc<Batch>],
) -> Result<Vec<Option<AppendRow>>, Fault> {
    let mut states = Vec::with_capacity(batches.len());
    for batches in batches.chunks(MOST) {
        let mut query = sqlx::query_as(STATES.text(batches.len()));
        for (place, batch) in (states.len()..).zip(batches) {
            query = query
                .bind(i64::try_from(place).unwrap_or(i64::MAX))
                .bind(batch.request.session.as_str())
                .bind(&batch.request.idempotency_key);
        }
        let rows: Vec<StateRow> = query.fetch_all(&mut **transaction).await?;
        states.resize_with(states.len() + batches.len(), || None);
        for row in rows {
            let place = usize::try_from(row.place).ok();
            if let Some(state) = place.and_then(|place| states.get_mut(place)) {
                *state = Some(row.state);
            }
        }
    }
    Ok(states)
}

async fn insert(
    transaction: &mut Transaction<'static, Sqlite>,
    events: &[NewEvent<'_>],
) -> Result<(), Fault> {
    let mut query = sqlx::query(INSERT.text(events.len()));
    for event in events {
        let request = &event.batch.request;
        let key = event.batch_last.map(|_| &request.idempotency_key);
        query = query
            .bind(request.session.as_str())
            .bind(event.seq)
            .bind(request.at.as_millis())
            .bind(event.payload)
            .bind(key)
            .bind(event.batch_last);
    }
    query.execute(&mut **transaction).await?;
    Ok(())
}

async fn note(
    transaction: &mut Transaction<'static, Sqlite>,
    notes: &[Note<'_>],
) -> Result<(), Fault> {
    let mut query = sqlx::query(NOTE.text(notes.len()));
    for note in notes {
        query = query
            .bind(note.session)
            .bind(note.last_seq)
            .bind(note.at)
            .bind(note.agent);
    }
    query.execute(&mut **transaction).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use everruns_core::clock::Timestamp;
    use everruns_core::ids::SessionId;
    use everruns_core::session::{
        AgentSummary, AppendRequest, EventPayload, EventQuery, FencingToken, LeaseOwner,
        NewSession, Sequence, SessionStore as _,
    };

    use super::super::SqliteSessionStore;
    use super::*;

    /// A store, and sessions of these names, whose tokens are all the first.
    async fn store(names: &[&str]) -> (tempfile::TempDir, SqliteSessionStore) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("sessions.db");
        let store = SqliteSessionStore::open(file).await.unwrap();
        for name in names {
            let id = SessionId::new(*name).unwrap();
            let at = Timestamp::from_millis(0);
            let session = NewSession {
                id: id.clone(),
                title: None,
                agent: AgentSummary::default(),
                created_at: at,
            };
            store.create(session).await.unwrap();
            let owner = LeaseOwner("test".into());
            let lease = store.acquire_lease(&id, &owner, at, Duration::from_mins(1));
            assert_eq!(lease.await.unwrap().token, FencingToken(1));
        }
        (folder, store)
    }

    fn started(agent: &str) -> EventPayload {
        let agent = AgentSummary {
            name: agent.into(),
            ..AgentSummary::default()
        };
        EventPayload::SessionStarted { agent }
    }

    fn message(text: String) -> EventPayload {
        EventPayload::UserMessage { text }
    }

    fn batch(session: &str, expected: u64, key: &str, events: Vec<EventPayload>) -> Arc<Batch> {
        let request = AppendRequest {
            session: SessionId::new(session).unwrap(),
            token: FencingToken(1),
            expected: Sequence(expected),
            idempotency_key: key.into(),
            at: Timestamp::from_millis(i64::try_from(expected).unwrap() + 7),
            events,
        };
        Arc::new(Batch::new(request).unwrap())
    }

    fn one(session: &str, expected: u64, key: &str) -> Arc<Batch> {
        batch(session, expected, key, vec![message(key.into())])
    }

    async fn group(store: &SqliteSessionStore, batches: Vec<Arc<Batch>>) -> Outcomes {
        append(&store.database, batches.into()).await.unwrap()
    }

    fn receipt(first: u64, last: u64, replayed: bool) -> AppendReceipt {
        AppendReceipt {
            first: Sequence(first),
            last: Sequence(last),
            replayed,
        }
    }

    async fn texts(store: &SqliteSessionStore, session: &str) -> Vec<String> {
        let session = SessionId::new(session).unwrap();
        let query = EventQuery::after(Sequence::START, 10_000);
        let page = store.events(&session, query).await.unwrap();
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

    #[tokio::test]
    async fn batches_of_one_session_see_those_before_them() {
        let (_folder, store) = store(&["a", "b"]).await;
        let batches = vec![
            batch("a", 0, "1", vec![started("First"), message("2".into())]),
            one("b", 0, "1"),
            one("a", 2, "3"),
            one("a", 2, "late"),
            batch("a", 3, "4", vec![started("Second")]),
            one("a", 4, "5"),
        ];
        let outcomes = group(&store, batches).await;
        assert_eq!(*outcomes[0].as_ref().unwrap(), receipt(1, 2, false));
        assert_eq!(*outcomes[1].as_ref().unwrap(), receipt(1, 1, false));
        assert_eq!(*outcomes[2].as_ref().unwrap(), receipt(3, 3, false));
        assert!(matches!(
            outcomes[3],
            Err(StoreError::SequenceConflict {
                expected: Sequence(2),
                actual: Sequence(3),
                ..
            })
        ));
        assert_eq!(*outcomes[5].as_ref().unwrap(), receipt(5, 5, false));
        assert_eq!(texts(&store, "a").await, ["", "2", "3", "", "5"]);
        let record = store.session(&SessionId::new("a").unwrap()).await.unwrap();
        assert_eq!(record.last_sequence, Sequence(5));
        assert_eq!(record.updated_at, Timestamp::from_millis(4 + 7));
        assert_eq!(record.agent.name, "Second");
    }

    #[tokio::test]
    async fn a_key_is_applied_once_in_a_group_and_in_later_ones() {
        let (_folder, store) = store(&["a", "b"]).await;
        let batches = || {
            vec![
                batch("a", 0, "1", vec![message("x".into()), message("y".into())]),
                batch("a", 0, "1", vec![message("x".into()), message("y".into())]),
                one("b", 0, "1"),
                one("a", 9, "1"),
            ]
        };
        let outcomes = group(&store, batches()).await;
        assert_eq!(*outcomes[0].as_ref().unwrap(), receipt(1, 2, false));
        assert_eq!(*outcomes[1].as_ref().unwrap(), receipt(1, 2, true));
        assert_eq!(*outcomes[2].as_ref().unwrap(), receipt(1, 1, false));
        assert_eq!(*outcomes[3].as_ref().unwrap(), receipt(1, 2, true));
        let outcomes = group(&store, batches()).await;
        assert!(
            outcomes
                .iter()
                .all(|outcome| outcome.as_ref().unwrap().replayed)
        );
        assert_eq!(texts(&store, "a").await, ["x", "y"]);
        assert_eq!(texts(&store, "b").await, ["1"]);
    }

    #[tokio::test]
    async fn one_that_is_refused_changes_nothing_and_stops_no_other() {
        let (_folder, store) = store(&["a", "b", "c"]).await;
        let wrong = batch("b", 0, "1", vec![started("Wrong")]);
        let mut wrong = Arc::into_inner(wrong).unwrap();
        wrong.request.token = FencingToken(2);
        let batches = vec![
            one("a", 0, "1"),
            Arc::new(wrong),
            one("nobody", 0, "1"),
            one("b", 0, "1"),
            one("c", 0, "1"),
        ];
        let outcomes = group(&store, batches).await;
        assert!(outcomes[0].is_ok());
        assert!(matches!(outcomes[1], Err(StoreError::Fenced { .. })));
        assert!(matches!(outcomes[2], Err(StoreError::NotFound { .. })));
        assert_eq!(*outcomes[3].as_ref().unwrap(), receipt(1, 1, false));
        assert!(outcomes[4].is_ok());
        for session in ["a", "b", "c"] {
            assert_eq!(texts(&store, session).await, ["1"]);
        }
        let record = store.session(&SessionId::new("b").unwrap()).await.unwrap();
        assert_eq!(record.agent, AgentSummary::default());
    }

    /// SQLite takes 32,766 parameters in a statement.
    #[tokio::test]
    async fn a_group_may_be_larger_than_a_statement() {
        let names: Vec<String> = (0..=2 * MOST).map(|number| format!("s{number}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let (_folder, store) = store(&names).await;
        let many: Vec<_> = (0..6_000)
            .map(|number| message(number.to_string()))
            .collect();
        let mut batches = vec![batch("s0", 0, "many", many)];
        batches.extend(names[1..].iter().map(|name| one(name, 0, "1")));
        batches.push(one("s0", 6_000, "1"));
        let outcomes = group(&store, batches).await;
        assert_eq!(*outcomes[0].as_ref().unwrap(), receipt(1, 6_000, false));
        assert_eq!(
            *outcomes[2 * MOST + 1].as_ref().unwrap(),
            receipt(6_001, 6_001, false)
        );
        let mut expected: Vec<_> = (0..6_000).map(|number: u32| number.to_string()).collect();
        expected.push("1".into());
        assert_eq!(texts(&store, "s0").await, expected);
        for name in &names[1..] {
            assert_eq!(texts(&store, name).await, ["1"]);
        }
    }

    /// However many sessions there are, only those of the group are looked at.
    #[tokio::test]
    async fn no_statement_reads_a_whole_table() {
        const TABLES: [&str; 6] = ["s", "l", "e", "sessions", "leases", "events"];
        let (_folder, store) = store(&["a"]).await;
        for many in [&STATES, &INSERT, &NOTE] {
            for rows in [1, 2, MOST] {
                let text = format!("EXPLAIN QUERY PLAN {}", many.text(rows));
                let steps: Vec<(i64, i64, i64, String)> = sqlx::query_as(sqlx::AssertSqlSafe(text))
                    .fetch_all(&store.database.reader)
                    .await
                    .unwrap();
                for (.., step) in steps {
                    let scanned = step.strip_prefix("SCAN ");
                    let scanned = scanned.and_then(|rest| rest.split(' ').next());
                    let is_table = scanned.is_some_and(|name| TABLES.contains(&name));
                    assert!(!is_table, "{rows} rows: {step}");
                }
            }
        }
    }
}
