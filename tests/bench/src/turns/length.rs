//! Sessions of which much is on record: what it takes to go on with them, and what they keep in memory.

use std::path::Path;
use std::time::{Duration, Instant};

use everruns::model::{StopReason, Usage};
use everruns::session::{
    AppendRequest, EventPayload, LeaseOwner, Sequence, SessionStore, TurnOutcome,
};
use everruns::{Agent, Engine, SessionId};

use super::alone::{self, Idle, Kept};
use super::{IDLE_LIMIT, agent, resident, turns};
use crate::bar::Bar;
use crate::measure::Samples;
use crate::table::Table;

/// Long and short, in events.
const LONG: u64 = 100_000;
const SHORT: u64 = 100;
/// What a resume of a long session may take of the time of a short one.
const RESUME_LIMIT: f64 = 1.5;
/// Handles on sessions that are idle after a turn, the events of each, and how many of them come first, to fill what
/// the process keeps for itself.
const HANDLES: usize = 200;
const FIRST: usize = 50;
const EVENTS: u64 = 4_000;

pub(super) async fn measure(
    table: &mut Table,
    scratch: &Path,
    rounds: usize,
    records: &str,
) -> anyhow::Result<()> {
    let engine = Engine::local(scratch.join("long")).await?;
    resume(table, &engine, rounds, records).await?;
    handles(table, scratch, records)
}

/// A closed session with so many events; its head is there while this process lives.
async fn recorded(engine: &Engine, agent: &Agent, events: u64) -> anyhow::Result<SessionId> {
    let session = engine.create(agent.clone()).start().await?;
    session.close().await;
    let id = session.session_id().clone();
    drop(session);
    lengthen(engine.store().as_ref(), &id, events).await?;
    Ok(id)
}

async fn resume(
    table: &mut Table,
    engine: &Engine,
    rounds: usize,
    records: &str,
) -> anyhow::Result<()> {
    let ids = [
        recorded(engine, &agent()?, SHORT).await?,
        recorded(engine, &agent()?, LONG).await?,
    ];
    let mut resumes = [Samples::default(), Samples::default()];
    let mut firsts = [Samples::default(), Samples::default()];
    for _ in 0..rounds.max(7) {
        for ((id, resumed), first) in ids.iter().zip(&mut resumes).zip(&mut firsts) {
            let begun = Instant::now();
            let session = engine.resume(id).await?;
            resumed.push(begun.elapsed());
            first.push(turns(&session, 1).await?);
            session.close().await;
        }
    }
    let [short, long] = &resumes;
    table.pair_within(
        format!("resume of {LONG} events, {records}"),
        long,
        &format!("of {SHORT} events"),
        short,
        Bar::Ratio(RESUME_LIMIT),
    );
    table.pair(
        format!("the first turn after that, which reads all {LONG} events"),
        &firsts[1],
        &format!("of {SHORT} events"),
        &firsts[0],
    );
    Ok(())
}

/// Memory that grows with the number of handles, each idle after a turn of a long conversation.
fn handles(table: &mut Table, scratch: &Path, records: &str) -> anyhow::Result<()> {
    let Kept { kib, .. } = alone::kept(Idle::LongConversations, scratch)?;
    table.figure_within(
        format!("memory of one of {HANDLES} idle handles, {EVENTS} events each, {records}"),
        format!("{kib} KiB"),
        &format!("< {IDLE_LIMIT} KiB"),
        kib < IDLE_LIMIT,
    );
    Ok(())
}

/// What one of the handles keeps, in this process.
pub(super) async fn kept(scratch: &Path) -> anyhow::Result<Kept> {
    let engine = Engine::local(scratch.join("handles")).await?;
    let agent = agent()?;
    let mut kept = Vec::with_capacity(HANDLES);
    let mut before = 0;
    for number in 0..HANDLES {
        if number == FIRST {
            before = resident()?;
        }
        let id = recorded(&engine, &agent, EVENTS).await?;
        let session = engine.resume(&id).await?;
        turns(&session, 1).await?;
        session.close().await;
        kept.push(session);
    }
    Ok(Kept {
        kib: resident()?.saturating_sub(before) / (HANDLES - FIRST) as u64,
        open_files: 0,
    })
}

/// Appends turns that ended, without running any.
async fn lengthen(
    store: &dyn SessionStore,
    session: &SessionId,
    events: u64,
) -> anyhow::Result<()> {
    let owner = LeaseOwner("the bench".to_owned());
    let record = store.session(session).await?;
    let (now, mut last) = (record.updated_at, record.last_sequence);
    let lease = store.acquire_lease(session, &owner, now, Duration::from_secs(1));
    let token = lease.await?.token;
    let mut turn = 0;
    while last < Sequence(events) {
        let batch = (0..250).flat_map(|_| one_turn(&mut turn));
        let left = usize::try_from((events - last.0).div_ceil(4) * 4)?;
        let request = AppendRequest {
            session: session.clone(),
            token,
            expected: last,
            idempotency_key: format!("after {last}"),
            at: now,
            events: batch.take(left).collect(),
        };
        last = store.append(request).await?.last;
    }
    Ok(store.release_lease(session, token).await?)
}

fn one_turn(turn: &mut u64) -> [EventPayload; 4] {
    *turn += 1;
    let turn = *turn;
    [
        EventPayload::UserMessage {
            text: format!("Message {turn} of the user, as long as a sentence."),
        },
        EventPayload::TurnStarted { turn },
        EventPayload::AssistantMessage {
            turn,
            text: format!("Answer {turn} of the model, which is about as long."),
            tool_calls: Vec::new(),
            stop: StopReason::EndTurn,
            usage: Usage::default(),
        },
        EventPayload::TurnEnded {
            turn,
            outcome: TurnOutcome::Completed,
        },
    ]
}
