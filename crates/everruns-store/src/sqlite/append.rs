use std::sync::Arc;

use everruns_core::failpoint::hit;
use everruns_core::session::StoreError;
use sqlx::{Sqlite, Transaction};

use super::database::Database;
use super::many::{MOST, Many};
use crate::appends::{Answer, Appends, Locks, NewEvent, Note, OPERATION, Plan, WritesGroups};
use crate::attempt::{Fault, Repeat};
use crate::driver::Driver as _;
use crate::rows::{AppendRow, PlacedRow};
use crate::rules::Batch;

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

impl WritesGroups for Database {
    fn appends(&self) -> &Appends {
        &self.appends
    }

    async fn append_all(
        self: &Arc<Self>,
        batches: Arc<[Arc<Batch>]>,
        _: Locks,
    ) -> Result<Vec<Option<Answer>>, StoreError> {
        let answers = append(self, batches).await?;
        Ok(answers.into_iter().map(Some).collect())
    }
}

async fn append(
    database: &Arc<Database>,
    batches: Arc<[Arc<Batch>]>,
) -> Result<Vec<Answer>, StoreError> {
    database
        .write(OPERATION, Repeat::Safe, move |database| {
            let batches = Arc::clone(&batches);
            async move { append_once(&database, &batches).await }
        })
        .await
}

async fn append_once(database: &Database, batches: &[Arc<Batch>]) -> Result<Vec<Answer>, Fault> {
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
        for (place, batch) in (0_i64..).zip(batches) {
            query = query
                .bind(place)
                .bind(batch.request.session.as_str())
                .bind(&batch.request.idempotency_key);
        }
        let rows: Vec<PlacedRow> = query.fetch_all(&mut **transaction).await?;
        states.extend(PlacedRow::in_order(rows, batches.len()));
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
    use super::super::SqliteSessionStore;
    use super::*;
    use crate::appends::groups;

    async fn store() -> (tempfile::TempDir, SqliteSessionStore) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("sessions.db");
        let store = SqliteSessionStore::open(file).await.unwrap();
        (folder, store)
    }

    #[tokio::test]
    async fn batches_of_one_session_see_those_before_them() {
        let (_folder, store) = store().await;
        groups::batches_of_one_session_see_those_before_them(&store.database, &store).await;
    }

    #[tokio::test]
    async fn times_do_not_go_back() {
        let (_folder, store) = store().await;
        groups::times_do_not_go_back(&store.database, &store).await;
    }

    #[tokio::test]
    async fn a_key_is_applied_once_in_a_group_and_in_later_ones() {
        let (_folder, store) = store().await;
        groups::a_key_is_applied_once_in_a_group_and_in_later_ones(&store.database, &store).await;
    }

    #[tokio::test]
    async fn one_that_is_refused_changes_nothing_and_stops_no_other() {
        let (_folder, store) = store().await;
        groups::one_that_is_refused_changes_nothing_and_stops_no_other(&store.database, &store)
            .await;
    }

    /// SQLite takes 32,766 parameters in a statement.
    #[tokio::test]
    async fn a_group_may_be_larger_than_a_statement() {
        let (_folder, store) = store().await;
        groups::a_group_may_be_large(&store.database, &store, 2 * MOST).await;
    }

    /// However many sessions there are, only those of the group are looked at.
    #[tokio::test]
    async fn no_statement_reads_a_whole_table() {
        const TABLES: [&str; 6] = ["s", "l", "e", "sessions", "leases", "events"];
        let (_folder, store) = store().await;
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
