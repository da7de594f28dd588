//! Turns with a model that costs nothing: what the engine itself costs, in time and memory.

mod alone;
mod appends;
mod length;
mod model;
mod on_git;

use std::path::Path;
use std::time::{Duration, Instant};

use everruns::{Agent, Engine, Session, WorkspacePolicy};
use futures::stream::{self, StreamExt as _, TryStreamExt as _};

pub(crate) use self::alone::{Idle, tell};
use self::model::Steady;
use crate::bar::Bar;
use crate::measure::Samples;
use crate::table::Table;

/// What a turn of a long session may take of the time of a turn of a short one.
const LONG_LIMIT: f64 = 1.2;
/// How many turns one sample runs.
const BATCH: u32 = 20;
/// Sessions that are there and do nothing.
const IDLE: usize = 10_000;
/// Sessions whose turns run at the same time.
const ACTIVE: usize = 1_000;
/// What all of them together may take of memory, in KiB.
const MEMORY_LIMIT: u64 = 512 * 1024;
/// What one that does nothing may take, in KiB.
const IDLE_LIMIT: u64 = 16;

pub(crate) async fn measure(
    table: &mut Table,
    scratch: &Path,
    place: &Path,
    rounds: usize,
    server: Option<&str>,
) -> anyhow::Result<()> {
    let place = place.display();
    let records = format!("records in SQLite in {place}");
    on_git::measure(table, scratch, &records)?;
    many(table).await?;
    long(table, &Engine::new(), rounds, "records in memory").await?;
    let durable = Engine::local(scratch.join("sessions")).await?;
    long(table, &durable, rounds, &records).await?;
    length::measure(table, scratch, rounds, &records).await?;
    together(table, scratch, &place.to_string()).await?;
    appends::measure(table, scratch, rounds, server, &place.to_string()).await
}

fn agent() -> anyhow::Result<Agent> {
    Ok(Agent::builder()
        .instructions("Work.")
        .provider(Steady)
        .model("steady")
        .workspace_policy(WorkspacePolicy::read_write())
        .build()?)
}

async fn turns(session: &Session, count: u32) -> anyhow::Result<Duration> {
    let begun = Instant::now();
    for _ in 0..count {
        let turn = session.send_and_wait("Go on.").await?;
        anyhow::ensure!(turn.success, "the turn failed");
    }
    Ok(begun.elapsed() / count.max(1))
}

/// The turns around the thousandth of one session beside those around the tenth of another, in turns.
async fn long(
    table: &mut Table,
    engine: &Engine,
    rounds: usize,
    records: &str,
) -> anyhow::Result<()> {
    let old = engine.create(agent()?).start().await?;
    turns(&old, 990).await?;
    let (mut tenth, mut thousandth) = (Samples::default(), Samples::default());
    for _ in 0..rounds {
        let young = engine.create(agent()?).start().await?;
        turns(&young, 2).await?;
        tenth.push(turns(&young, BATCH).await?);
        thousandth.push(turns(&old, BATCH).await?);
    }
    table.pair_within(
        format!("turns from the 990th on with one tool call, {records}"),
        &thousandth,
        "turns 3 to 22",
        &tenth,
        Bar::Ratio(LONG_LIMIT),
    );
    let id = old.session_id().clone();
    old.close().await;
    drop(old);
    let mut resume = Samples::default();
    let mut resume_short = Samples::default();
    for _ in 0..rounds {
        let young = engine.create(agent()?).start().await?;
        turns(&young, 2).await?;
        young.close().await;
        let short = young.session_id().clone();
        drop(young);
        for (id, samples) in [(&short, &mut resume_short), (&id, &mut resume)] {
            let begun = Instant::now();
            let session = engine.resume(id).await?;
            samples.push(begun.elapsed());
            session.close().await;
        }
    }
    table.pair(
        format!("resume after 1,000 turns, {records}"),
        &resume,
        "after 2 turns",
        &resume_short,
    );
    Ok(())
}

/// Idle sessions, and beside them many whose turns run at once.
async fn many(table: &mut Table) -> anyhow::Result<()> {
    let engine = Engine::new();
    let agent = agent()?;
    let before = resident()?;
    let mut idle = Vec::with_capacity(IDLE);
    for _ in 0..IDLE {
        let session = engine.create(agent.clone()).start().await?;
        session.close().await;
        idle.push(session);
    }
    let per_session = resident()?.saturating_sub(before) / IDLE as u64;
    table.figure_within(
        format!("memory of one of {IDLE} idle sessions, records and heads in memory"),
        format!("{per_session} KiB"),
        &format!("< {IDLE_LIMIT} KiB"),
        per_session < IDLE_LIMIT,
    );
    forget_peak()?;
    let begun = Instant::now();
    stream::iter(&idle[..ACTIVE])
        .map(|session| turns(session, 1))
        .buffer_unordered(ACTIVE)
        .try_collect::<Vec<_>>()
        .await?;
    let took = begun.elapsed();
    let all = peak()?;
    table.figure_within(
        format!("most memory with {IDLE} sessions, {ACTIVE} of them in turns at once, which took {took:.1?}"),
        format!("{} MiB", all / 1024),
        &format!("< {} MiB", MEMORY_LIMIT / 1024),
        all < MEMORY_LIMIT,
    );
    Ok(())
}

/// Turns of one session alone beside those of sixteen at once, in one database.
async fn together(table: &mut Table, scratch: &Path, place: &str) -> anyhow::Result<()> {
    let engine = Engine::local(scratch.join("together")).await?;
    let mut rates = Vec::new();
    for sessions in [1_u8, 16] {
        let mut started = Vec::new();
        for _ in 0..sessions {
            started.push(engine.create(agent()?).start().await?);
        }
        let begun = Instant::now();
        stream::iter(&started)
            .map(|session| turns(session, BATCH))
            .buffer_unordered(usize::from(sessions))
            .try_collect::<Vec<_>>()
            .await?;
        let turns = f64::from(BATCH) * f64::from(sessions);
        rates.push(turns / begun.elapsed().as_secs_f64());
        table.note(
            format!("turns a second of {sessions} sessions at once, records in SQLite in {place}"),
            format!("{:.0}", rates[rates.len() - 1]),
        );
    }
    let ratio = rates[1] / rates[0];
    table.figure_within(
        format!("turns of sixteen sessions at once beside those of one, in {place}"),
        format!("{ratio:.1} times"),
        "> 1 times",
        ratio > 1.0,
    );
    Ok(())
}

/// The memory of this process that is in use, in KiB.
fn resident() -> anyhow::Result<u64> {
    memory("VmRSS:")
}

/// The most memory that was in use since [`forget_peak`], in KiB.
fn peak() -> anyhow::Result<u64> {
    memory("VmHWM:")
}

fn forget_peak() -> anyhow::Result<()> {
    Ok(std::fs::write("/proc/self/clear_refs", "5")?)
}

fn memory(field: &str) -> anyhow::Result<u64> {
    let status = std::fs::read("/proc/self/status")?;
    let status = String::from_utf8_lossy(&status);
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix(field))
        .and_then(|rest| rest.split_whitespace().next());
    Ok(line.unwrap_or_default().parse()?)
}
