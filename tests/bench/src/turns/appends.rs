//! Appending to a store, by one session alone and by sixteen at once.

use std::path::Path;
use std::time::{Duration, Instant};

use everruns::clock::Timestamp;

use everruns::session::{
    AgentSummary, AppendRequest, EventPayload, FencingToken, LeaseOwner, NewSession, Sequence,
    SessionStore,
};
use everruns::{PostgresSessionStore, SessionId, SqliteSessionStore};
use futures::stream::{self, StreamExt as _, TryStreamExt as _};

use crate::bar::Bar;
use crate::measure::Samples;
use crate::table::Table;

/// How many events one session appends in a sample, one request each.
const APPENDS: u64 = 100;
/// How many times the throughput of one session all of them reach together.
const THROUGHPUT: f64 = 3.0;
/// How many sessions append at once.
const TOGETHER: u64 = 16;

/// Measures SQLite in `scratch`, and PostgreSQL at `server` if there is one.
pub(super) async fn measure(
    table: &mut Table,
    scratch: &Path,
    rounds: usize,
    server: Option<&str>,
    place: &str,
) -> anyhow::Result<()> {
    let store = SqliteSessionStore::open(scratch.join("appends.db")).await?;
    compare(table, &store, rounds, &format!("SQLite in {place}")).await?;
    if let Some(server) = server {
        let store = PostgresSessionStore::connect(server).await?;
        compare(table, &store, rounds, "PostgreSQL").await?;
    }
    Ok(())
}

async fn compare(
    table: &mut Table,
    store: &dyn SessionStore,
    rounds: usize,
    name: &str,
) -> anyhow::Result<()> {
    let (mut alone, mut together) = (Samples::default(), Samples::default());
    for round in 0..rounds {
        alone.push(append(store, &format!("{round}-alone"), 1).await?);
        let took = append(store, &format!("{round}-together"), TOGETHER).await?;
        // What one of them would have taken for as many.
        together.push(took / u32::try_from(TOGETHER)?);
    }
    table.pair_within(
        format!("{APPENDS} appends of one of {TOGETHER} sessions at once, {name}"),
        &together,
        "of one session alone",
        &alone,
        Bar::Speed(THROUGHPUT),
    );
    Ok(())
}

/// What it takes `count` new sessions to append at once.
async fn append(store: &dyn SessionStore, name: &str, count: u64) -> anyhow::Result<Duration> {
    let mut leases = Vec::new();
    for number in 0..count {
        let process = std::process::id();
        let session = SessionId::new(format!("bench-{process}-{name}-{number}"))?;
        let at = Timestamp::from_millis(1);
        store
            .create(NewSession {
                id: session.clone(),
                title: None,
                agent: AgentSummary::default(),
                created_at: at,
            })
            .await?;
        let owner = LeaseOwner("bench".to_owned());
        let lease = store
            .acquire_lease(&session, &owner, at, Duration::from_mins(1))
            .await?;
        leases.push((session, lease.token));
    }
    let begun = Instant::now();
    stream::iter(&leases)
        .map(|(session, token)| append_all(store, session, *token))
        .buffer_unordered(leases.len().max(1))
        .try_collect::<Vec<_>>()
        .await?;
    Ok(begun.elapsed())
}

async fn append_all(
    store: &dyn SessionStore,
    session: &SessionId,
    token: FencingToken,
) -> anyhow::Result<()> {
    for number in 0..APPENDS {
        let text = "a message of a few words, as people write them";
        store
            .append(AppendRequest {
                session: session.clone(),
                token,
                expected: Sequence(number),
                idempotency_key: format!("append {number}"),
                at: Timestamp::from_millis(2),
                events: vec![EventPayload::UserMessage {
                    text: text.to_owned(),
                }],
            })
            .await?;
    }
    Ok(())
}
