use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use everruns_core::failpoint::hit;
use everruns_core::ids::SessionId;
use everruns_core::session::StoreError;
use sqlx::{Postgres, Transaction};

use super::database::Database;
use super::lock::{lock_free_sessions, lock_session};
use crate::appends::{Answer, Appends, Locks, OPERATION, Plan, WritesGroups};
use crate::attempt::{Fault, Repeat};
use crate::driver::Driver as _;
use crate::rows::{AppendRow, PlacedRow};
use crate::rules::Batch;

/// Bytes a second that every connection carries.
const SLOWEST: u64 = 128 * 1024;

/// What appends have to know, by their place in the group, from 0: arrays of `session, key`. Events are joined to what is
/// asked, so that the planner has session and key to look them up; joined to `sessions`, it reads a session's whole record.
const STATES: &str = "SELECT a.place - 1 AS place, s.last_seq, l.token, l.owner, \
            e.seq AS applied_first, e.batch_last AS applied_last \
     FROM UNNEST($1::TEXT[], $2::TEXT[]) WITH ORDINALITY AS a (session, key, place) \
     JOIN sessions s ON s.id = a.session \
     LEFT JOIN leases l ON l.session_id = a.session \
     LEFT JOIN events e ON e.session_id = a.session AND e.idempotency_key = a.key";

/// Adds events, and notes them at their sessions, whose time of the last change never goes back: arrays of
/// `session, seq, at, payload, key or null, batch_last or null`, then of `session, last_seq, updated_at, agent or null`.
const INSERT_AND_NOTE: &str = "WITH added AS (\
         INSERT INTO events (session_id, seq, at, payload, idempotency_key, batch_last) \
         SELECT * FROM UNNEST($1::TEXT[], $2::BIGINT[], $3::BIGINT[], $4::TEXT[], $5::TEXT[], $6::BIGINT[])\
     ) \
     UPDATE sessions SET last_seq = noted.last_seq, updated_at = GREATEST(sessions.updated_at, noted.at), \
         agent = COALESCE(noted.agent, sessions.agent) \
     FROM UNNEST($7::TEXT[], $8::BIGINT[], $9::BIGINT[], $10::TEXT[]) AS noted (session, last_seq, at, agent) \
     WHERE sessions.id = noted.session";

impl WritesGroups for Database {
    fn appends(&self) -> &Appends {
        &self.appends
    }

    async fn append_all(
        self: &Arc<Self>,
        batches: Arc<[Arc<Batch>]>,
        locks: Locks,
    ) -> Result<Vec<Option<Answer>>, StoreError> {
        let bytes = batches.iter().flat_map(|batch| &batch.payloads);
        let bytes: usize = bytes.map(String::len).sum();
        let limit = self
            .patience()
            .map(|limit| limit + Duration::from_secs(bytes as u64 / SLOWEST));
        self.write_within(limit, OPERATION, Repeat::Safe, move |database| {
            let batches = Arc::clone(&batches);
            async move { append_once(&database, &batches, locks).await }
        })
        .await
    }
}

async fn append_once(
    database: &Database,
    batches: &[Arc<Batch>],
    locks: Locks,
) -> Result<Vec<Option<Answer>>, Fault> {
    let mut transaction = database.begin().await?;
    let is_locked = lock(&mut transaction, batches, locks).await?;
    let ours = batches.iter().zip(&is_locked);
    let ours: Vec<&Batch> = ours
        .filter_map(|(batch, is_locked)| is_locked.then_some(batch.as_ref()))
        .collect();
    let states = states(&mut transaction, &ours).await?;
    let plan = Plan::new(ours.into_iter().zip(states));
    if !plan.notes.is_empty() {
        insert_and_note(&mut transaction, &plan).await?;
        hit("store.append.before-commit")?;
        transaction.commit().await?;
        hit("store.append.after-commit")?;
    }
    let mut answers = plan.outcomes.into_iter();
    let answers = is_locked
        .into_iter()
        .map(|is_locked| is_locked.then(|| answers.next()).flatten());
    Ok(answers.collect())
}

/// Locks the sessions of the batches, and says of which batches. Without waiting, those that somebody else has are left out,
/// and those that are not recorded.
async fn lock(
    transaction: &mut Transaction<'static, Postgres>,
    batches: &[Arc<Batch>],
    locks: Locks,
) -> Result<Vec<bool>, Fault> {
    let sessions = batches.iter().map(|batch| &batch.request.session);
    if locks == Locks::Await {
        for session in sessions {
            lock_session(transaction, session).await?;
        }
        return Ok(vec![true; batches.len()]);
    }
    let sessions = sessions.map(SessionId::as_str);
    let locked = lock_free_sessions(transaction, &sessions.clone().collect::<Vec<_>>()).await?;
    let locked: HashSet<String> = locked.into_iter().collect();
    Ok(sessions.map(|session| locked.contains(session)).collect())
}

/// What is stored about each batch's session and key; nothing about a session that is not recorded.
async fn states(
    transaction: &mut Transaction<'static, Postgres>,
    batches: &[&Batch],
) -> Result<Vec<Option<AppendRow>>, Fault> {
    let requests = batches.iter().map(|batch| &batch.request);
    let (sessions, keys): (Vec<&str>, Vec<&str>) = requests
        .map(|request| (request.session.as_str(), request.idempotency_key.as_str()))
        .unzip();
    let rows = sqlx::query_as(STATES)
        .bind(sessions)
        .bind(keys)
        .fetch_all(&mut **transaction)
        .await?;
    Ok(PlacedRow::in_order(rows, batches.len()))
}

async fn insert_and_note(
    transaction: &mut Transaction<'static, Postgres>,
    plan: &Plan<'_>,
) -> Result<(), Fault> {
    let events = || plan.events.iter();
    let requests = || events().map(|event| &event.batch.request);
    let keys = events().map(|event| {
        let key = &event.batch.request.idempotency_key;
        event.batch_last.map(|_| key.as_str())
    });
    let notes = || plan.notes.iter();
    sqlx::query(INSERT_AND_NOTE)
        .bind(requests().map(|to| to.session.as_str()).collect::<Vec<_>>())
        .bind(events().map(|event| event.seq).collect::<Vec<_>>())
        .bind(requests().map(|to| to.at.as_millis()).collect::<Vec<_>>())
        .bind(events().map(|event| event.payload).collect::<Vec<_>>())
        .bind(keys.collect::<Vec<_>>())
        .bind(events().map(|event| event.batch_last).collect::<Vec<_>>())
        .bind(notes().map(|note| note.session).collect::<Vec<_>>())
        .bind(notes().map(|note| note.last_seq).collect::<Vec<_>>())
        .bind(notes().map(|note| note.at).collect::<Vec<_>>())
        .bind(notes().map(|note| note.agent).collect::<Vec<_>>())
        .execute(&mut **transaction)
        .await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use everruns_testkit::postgres::Server;
    use sqlx::AssertSqlSafe;

    use super::super::PostgresSessionStore;
    use super::STATES;
    use crate::appends::groups;

    /// A server with its store; `None` when there is no server on this machine, which is a failure in CI.
    async fn store() -> Option<(Server, PostgresSessionStore)> {
        let Some(server) = Server::start().unwrap() else {
            let in_ci = std::env::var("CI").is_ok_and(|value| value == "true" || value == "1");
            let message =
                "NOT RUN: no PostgreSQL (initdb, postgres) in PATH or /usr/lib/postgresql";
            assert!(!in_ci, "{message}");
            eprintln!("{message}");
            return None;
        };
        let store = PostgresSessionStore::connect(&server.database("postgres")).await;
        Some((server, store.unwrap()))
    }

    #[tokio::test]
    async fn groups_are_written_as_the_batches_alone() {
        let Some((_server, store)) = store().await else {
            return;
        };
        let database = &store.database;
        groups::batches_of_one_session_see_those_before_them(database, &store).await;
        groups::a_key_is_applied_once_in_a_group_and_in_later_ones(database, &store).await;
        groups::one_that_is_refused_changes_nothing_and_stops_no_other(database, &store).await;
        groups::times_do_not_go_back(database, &store).await;
        groups::a_group_may_be_large(database, &store, 130).await;
        store.close().await;
    }

    /// However many events a session has, those of an append's key alone are looked up: whether the plan is made for the values
    /// or for any.
    #[tokio::test]
    async fn no_append_reads_what_is_on_record() {
        let Some((_server, store)) = store().await else {
            return;
        };
        let mut connection = store.database.pool.acquire().await.unwrap();
        sqlx::raw_sql(
            "INSERT INTO sessions (id, agent, created_at, updated_at, last_seq)
             SELECT 's' || n, '{}', 1, 1, CASE n WHEN 1 THEN 4000 ELSE 8 END FROM generate_series(1, 2000) AS n;
             INSERT INTO leases (session_id, token) SELECT id, 1 FROM sessions;
             INSERT INTO events (session_id, seq, at, payload, idempotency_key, batch_last)
             SELECT id, seq, 1, 'text', 'key ' || seq, seq
             FROM sessions, generate_series(1, 4000) AS seq WHERE seq <= last_seq ORDER BY seq, id;
             ANALYZE",
        )
        .execute(&mut *connection)
        .await
        .unwrap();
        let prepare = format!("PREPARE states AS {STATES}");
        sqlx::raw_sql(AssertSqlSafe(prepare))
            .execute(&mut *connection)
            .await
            .unwrap();
        for (mode, sessions) in [
            ("force_custom_plan", 1),
            ("force_custom_plan", 16),
            ("force_custom_plan", 64),
            ("force_generic_plan", 16),
        ] {
            let of = |what: &str| {
                let each = (1..=sessions).map(|number| format!("'{what}{number}'"));
                each.collect::<Vec<_>>().join(", ")
            };
            let explain = format!(
                "SET plan_cache_mode = {mode}; \
                 EXPLAIN EXECUTE states (ARRAY[{}], ARRAY[{}])",
                of("s"),
                of("new ")
            );
            let rows: Vec<(String,)> = {
                use sqlx::{Executor as _, Row as _};
                let rows = connection.fetch_all(sqlx::raw_sql(AssertSqlSafe(explain)));
                let rows = rows.await.unwrap();
                rows.iter().map(|row| (row.get(0),)).collect()
            };
            let plan: Vec<_> = rows.into_iter().map(|(line,)| line).collect();
            let plan = plan.join("\n");
            assert!(
                !plan.contains("Seq Scan on events"),
                "{mode}, {sessions}:\n{plan}"
            );
            let keyed = plan.lines().filter(|line| line.contains("idempotency_key"));
            for line in keyed.clone() {
                assert!(
                    line.contains("Index Cond: ((session_id = a.session) AND"),
                    "{mode}, {sessions}:\n{plan}"
                );
            }
            assert_eq!(keyed.count(), 1, "{mode}, {sessions}:\n{plan}");
        }
        drop(connection);
        store.close().await;
    }
}
