//! What must be left of killed sessions.

mod clash;
mod commits;
mod events;
mod files;
mod forks;
mod records;
mod removals;
mod turns;
mod upkeep;

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, bail, ensure};
use everruns::session::{SessionEvent, SessionStore};
use everruns::{ResumeError, Session, SessionId, Simulated};

use self::events::read;
use crate::child::Seen;
use crate::files::{Course, Files, Update};
use crate::place::{Kind, Place, agent, listed};
use crate::project::Project;

/// What the parent knows of the rounds before.
#[derive(Debug)]
pub(crate) struct Ledger {
    /// The files of a new head.
    fresh: Files,
    bindings: BTreeMap<SessionId, String>,
    /// All events of a session, as last read.
    events: BTreeMap<SessionId, Vec<SessionEvent>>,
    /// The files along the known events of a session.
    courses: BTreeMap<SessionId, Course>,
    /// Forks that have not been looked at.
    forks: Vec<SessionId>,
    /// The sessions there were before the child.
    present: BTreeSet<SessionId>,
}

/// What a child did, and on what.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Done<'a> {
    pub(crate) place: &'a Place,
    pub(crate) project: Option<&'a Project>,
    /// The session that it went on with or had begun.
    pub(crate) session: Option<&'a SessionId>,
    pub(crate) seen: &'a [Seen],
    pub(crate) seed: u64,
}

/// What a check leaves.
#[derive(Debug, Default)]
pub(crate) struct Left {
    /// The session that can go on.
    pub(crate) session: Option<SessionId>,
    /// Calls of this round whose outcome is unknown.
    pub(crate) unknown: u64,
    /// Whether the session was deleted, whose fork was not finished.
    pub(crate) deleted: bool,
}

impl Ledger {
    pub(crate) fn new(place: &Place) -> anyhow::Result<Self> {
        Ok(Self {
            fresh: listed(&place.project())?,
            bindings: BTreeMap::new(),
            events: BTreeMap::new(),
            courses: BTreeMap::new(),
            forks: Vec::new(),
            present: BTreeSet::new(),
        })
    }

    /// Notes which sessions there are before a child begins.
    pub(crate) async fn look(&mut self, place: &Place) -> anyhow::Result<()> {
        let store = place.store().await?;
        self.present.clear();
        let nothing = BTreeSet::new();
        self.check_records(store.as_ref(), &nothing).await.map(drop)
    }

    /// Checks everything after one child.
    pub(crate) async fn check(&mut self, done: Done<'_>) -> anyhow::Result<Left> {
        let Done { place, seen, .. } = done;
        let store = place.store().await?;
        let gone = removals::check(done, store.as_ref()).await?;
        let new = self.check_records(store.as_ref(), &gone).await?;
        if let Some(project) = done.project {
            commits::check(place, project, seen).await?;
            upkeep::check(place, project, store.as_ref(), seen).await?;
        }
        let Some(id) = done.session.cloned().or(new) else {
            return Ok(Left::default());
        };
        if let Some(project) = done.project {
            clash::check(place, project, store.as_ref(), &id, seen).await?;
        }
        let recorded = read(store.as_ref(), &id).await?;
        self.check_events(&id, &recorded, seen)?;
        self.check_told_files(&id, &recorded, seen)?;
        self.check_forks(store.as_ref(), &id, &recorded).await?;
        if forks::unfinished(&recorded).is_some() && done.seed.is_multiple_of(2) {
            forks::delete_source(place, store.as_ref(), &id).await?;
            let gone = gone.into_iter().chain([id]).collect();
            self.check_records(store.as_ref(), &gone).await?;
            return Ok(Left {
                deleted: true,
                ..Left::default()
            });
        }
        let Some(session) = self.resume(place, &id, &recorded, done.seed).await? else {
            return Ok(Left::default());
        };
        // Resuming has finished what was begun, so that new sessions may be there.
        self.check_records(store.as_ref(), &gone).await?;
        let updates = Update::all(seen);
        let unknown = self.finish(store.as_ref(), &session, done.seed, &updates);
        let unknown = unknown.await?;
        for fork in std::mem::take(&mut self.forks) {
            let recorded = read(store.as_ref(), &fork).await?;
            self.check_events(&fork, &recorded, &[])?;
            let Some(fork) = self.resume(place, &fork, &recorded, done.seed).await? else {
                bail!("the fork {fork} cannot be resumed");
            };
            let seed = done.seed.wrapping_add(1 << 40);
            self.finish(store.as_ref(), &fork, seed, &[]).await?;
        }
        forks::have_sessions(place, &place.engine().await?).await?;
        Ok(Left {
            session: Some(id),
            unknown,
            deleted: false,
        })
    }

    /// Lets a resumed session finish a turn, and compares its files with its record.
    async fn finish(
        &mut self,
        store: &dyn SessionStore,
        session: &Session,
        seed: u64,
        updates: &[Update],
    ) -> anyhow::Result<u64> {
        let turn = session.send_and_wait(format!("finish {seed}")).await?;
        ensure!(turn.success, "a resumed session does not finish: {turn:?}");
        session.close().await;
        let now = read(store, session.session_id()).await?;
        turns::check(&now)?;
        let unknown = self.check_files(session, &now, updates)?;
        self.events.insert(session.session_id().clone(), now);
        Ok(unknown)
    }

    /// The session on exactly its head; `None` when that has ended with its process, as heads in memory do.
    async fn resume(
        &self,
        place: &Place,
        id: &SessionId,
        recorded: &[SessionEvent],
        seed: u64,
    ) -> anyhow::Result<Option<Session>> {
        let engine = place.engine().await?;
        let script = Simulated::new()
            .call("list_directory", serde_json::json!({"path": "."}))
            .say(format!("Finished {seed}."));
        engine.attach(id, agent(place.backend()?, script)?);
        match engine.resume(id).await {
            Ok(session) => {
                ensure!(place.kind != Kind::Memory, "a head in memory has come back");
                let head = session.workspace_head().context("it has started")?;
                let binding = serde_json::to_string(&head.binding())?;
                ensure!(
                    self.bindings.get(id) == Some(&binding),
                    "resumed on another head: {binding}"
                );
                Ok(Some(session))
            }
            Err(ResumeError::HeadUnavailable { .. }) if place.kind == Kind::Memory => Ok(None),
            Err(ResumeError::NotBound { .. }) if recorded.is_empty() => Ok(None),
            Err(error) => Err(error).with_context(|| format!("{id} cannot be resumed")),
        }
    }
}
