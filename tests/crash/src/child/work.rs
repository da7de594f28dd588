use std::sync::Arc;

use everruns::{Session, SessionId, SessionUpdate};
use everruns_testkit::failpoints::kill_at_nth;
use futures::StreamExt as _;

use super::travel::Traveller;
use super::{Orders, Seen, rival};
use crate::place::{Kind, agent_keeping, checkpoints};
use crate::project::{clashing, upstream};
use crate::random::Random;
use crate::script::script;
use crate::trip::Trip;

/// Works until it is killed, or has done what it was to do.
///
/// # Errors
/// Whatever fails: nothing should.
pub async fn work(orders: &Orders) -> anyhow::Result<()> {
    if let (true, Some(session)) = (orders.rival, &orders.session) {
        return rival::wait_for_turn(orders, session).await;
    }
    match execute(orders).await {
        Err(error) if orders.contended && rival::is_outdone(&error) => Seen::Outdone.tell(),
        outcome => outcome,
    }
}

async fn execute(orders: &Orders) -> anyhow::Result<()> {
    if let Some(step) = &orders.kill_at {
        kill_at_nth(step, orders.nth);
    }
    let place = orders.place();
    let mut random = Random::new(orders.seed);
    let turns = 2 + random.below(3);
    let backend = place.backend()?;
    let policy = checkpoints(orders.kind, orders.seed);
    let script = script(&mut random, turns);
    let agent = agent_keeping(policy, Arc::clone(&backend), script)?;
    let engine = place.engine().await?;
    let session = if let Some(id) = &orders.session {
        let id = SessionId::new(id.clone())?;
        engine.attach(&id, agent);
        engine.resume(&id).await?
    } else {
        let name = format!("head {}", orders.seed);
        let head = place.head(Arc::clone(&backend), &name).await?;
        engine.create(agent).workspace(head).start().await?
    };
    let id = session.session_id().clone();
    Seen::Active { session: id }.tell()?;
    let events = tokio::spawn(tell_events(session.clone()));
    let traveller = Traveller {
        place,
        engine,
        backend,
        session: session.clone(),
        branch: orders.branch.clone(),
        upstream: upstream(orders.seed),
        clashing: clashing(orders.seed),
    };
    if orders.kind == Kind::Git {
        // A process that was killed may have left a conflict.
        traveller.resolve(&mut random).await?;
    }
    for turns_done in 0..turns {
        let text = format!("message {turns_done} of {}", orders.seed);
        let pending = session.send(text.clone()).await?;
        Seen::Sent { text }.tell()?;
        let turn = pending.wait().await?;
        let (number, success) = (turn.number, turn.success);
        Seen::Turn { number, success }.tell()?;
        traveller.tell_files().await?;
        let ordered = orders.trip.filter(|_| turns_done > 0);
        if let Some(trip) = ordered.or_else(|| chosen(&mut random, orders)) {
            let name = format!("{trip} {number} of {}", orders.seed);
            traveller.go(trip, &mut random, &name).await?;
        }
    }
    session.close().await;
    events.abort();
    Ok(())
}

/// Now and then something else happens between two turns.
fn chosen(random: &mut Random, orders: &Orders) -> Option<Trip> {
    // A rival that came between would find things that are no part of the record.
    let wanted = random.percent(40) && !orders.contended;
    let trip = *random.pick(&Trip::all(orders.kind));
    wanted.then_some(trip)
}

pub(super) async fn tell_events(session: Session) -> anyhow::Result<()> {
    let mut updates = session.updates();
    while let Some(update) = updates.next().await {
        if let SessionUpdate::Event(event) = update {
            Seen::Event(Box::new(event)).tell()?;
        }
    }
    Ok(())
}
