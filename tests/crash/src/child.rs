//! The process that is killed.

use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use everruns::session::{EventPayload, Sequence, SessionEvent};
use everruns::{Session, SessionError, SessionId, SessionUpdate};
use everruns_testkit::failpoints::kill_at_nth;
use futures::StreamExt as _;
use serde::{Deserialize, Serialize};

use crate::place::{Kind, Place, agent};
use crate::random::Random;
use crate::script::script;

/// What a child is to do.
#[derive(Clone, Debug, clap::Args)]
pub struct Orders {
    /// The kind of head
    #[arg(long, value_enum)]
    pub kind: Kind,
    /// Where everything is
    #[arg(long)]
    pub folder: PathBuf,
    /// The database, unless it is SQLite in the folder
    #[arg(long)]
    pub postgres: Option<String>,
    /// Where the random choices begin
    #[arg(long)]
    pub seed: u64,
    /// The session to go on with; a new one when not given
    #[arg(long)]
    pub session: Option<String>,
    /// The step at which to die
    #[arg(long)]
    pub kill_at: Option<String>,
    /// How often the step is passed before
    #[arg(long, default_value_t = 1)]
    pub nth: usize,
}

/// What a child has seen acknowledged, a line each.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Seen {
    /// The session has started or was resumed.
    Active { session: SessionId },
    /// A message was taken.
    Sent { text: String },
    /// An event is recorded.
    Event(Box<SessionEvent>),
    /// A session was made of this one.
    Forked { session: SessionId },
    /// A turn has ended.
    Turn { number: u64, success: bool },
}

impl Seen {
    /// One call, so that a kill finds the line whole or not there.
    fn tell(&self) -> anyhow::Result<()> {
        let mut line = serde_json::to_string(self)?;
        line.push('\n');
        std::io::stdout().lock().write_all(line.as_bytes())?;
        Ok(())
    }
}

/// Works until it is killed, or has done what it was to do.
///
/// # Errors
/// Whatever fails: nothing should.
pub async fn work(orders: &Orders) -> anyhow::Result<()> {
    if let Some(step) = &orders.kill_at {
        kill_at_nth(step, orders.nth);
    }
    let place = Place {
        kind: orders.kind,
        folder: orders.folder.clone(),
        postgres: orders.postgres.clone(),
    };
    let mut random = Random::new(orders.seed);
    let turns = 2 + random.below(3);
    let backend = place.backend()?;
    let agent = agent(Arc::clone(&backend), script(&mut random, turns))?;
    let engine = place.engine().await?;
    let session = if let Some(id) = &orders.session {
        let id = SessionId::new(id.clone())?;
        engine.attach(&id, agent);
        engine.resume(&id).await?
    } else {
        let name = format!("head {}", orders.seed);
        let head = place.head(backend, &name).await?;
        engine.create(agent).workspace(head).start().await?
    };
    let id = session.session_id().clone();
    Seen::Active { session: id }.tell()?;
    let events = tokio::spawn(tell_events(session.clone()));
    for number in 0..turns {
        let text = format!("message {number} of {}", orders.seed);
        let pending = session.send(text.clone()).await?;
        Seen::Sent { text }.tell()?;
        let turn = pending.wait().await?;
        Seen::Turn {
            number: turn.number,
            success: turn.success,
        }
        .tell()?;
        if orders.kind == Kind::Git {
            travel(
                &session,
                &mut random,
                &format!("fork {number} of {}", orders.seed),
            )
            .await?;
        }
    }
    session.close().await;
    events.abort();
    Ok(())
}

/// Now and then goes back to the end of some turn, or forks the session there.
async fn travel(session: &Session, random: &mut Random, name: &str) -> anyhow::Result<()> {
    let choice = random.below(4);
    if choice > 1 {
        return Ok(());
    }
    let places = places(session).await?;
    let place = *random.pick(&places);
    if choice == 0 {
        match session.rewind(place).await {
            Ok(_) | Err(SessionError::NotBetweenTurns { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    } else {
        match session.fork_at(name, place).await {
            Ok(fork) => {
                let session = fork.session_id().clone();
                fork.close().await;
                Seen::Forked { session }.tell()
            }
            Err(SessionError::NotBetweenTurns { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

/// Where turns ended, those included from which the session went back.
async fn places(session: &Session) -> anyhow::Result<Vec<Sequence>> {
    let last = session.inspect().await?.record.last_sequence;
    let mut events = session.events(Sequence::START);
    let mut places = vec![Sequence(1)];
    while let Some(event) = events.next().await {
        let event = event?;
        if matches!(event.payload, EventPayload::TurnEnded { .. }) {
            places.push(event.sequence);
        }
        if event.sequence >= last {
            break;
        }
    }
    Ok(places)
}

async fn tell_events(session: Session) -> anyhow::Result<()> {
    let mut updates = session.updates();
    while let Some(update) = updates.next().await {
        if let SessionUpdate::Event(event) = update {
            Seen::Event(Box::new(event)).tell()?;
        }
    }
    Ok(())
}
