//! What must be left of killed sessions.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, bail, ensure};
use everruns::path::WorkspacePath;
use everruns::session::{
    EventPayload, EventQuery, Sequence, SessionEvent, SessionQuery, SessionRecord, SessionStore,
    ToolOutcome,
};
use everruns::{ResumeError, Session, SessionId, Simulated, WorkspaceHeadAccess};

use crate::child::Seen;
use crate::files::{Course, Files};
use crate::place::{Kind, Place, agent, listed};

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

/// What a check leaves.
#[derive(Debug, Default)]
pub(crate) struct Left {
    /// The session that can go on.
    pub(crate) session: Option<SessionId>,
    /// Calls of this round whose outcome is unknown.
    pub(crate) unknown: u64,
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

    /// Checks everything after one child; `session` is the one that it went on with or had begun.
    pub(crate) async fn check(
        &mut self,
        place: &Place,
        session: Option<SessionId>,
        seen: &[Seen],
        seed: u64,
    ) -> anyhow::Result<Left> {
        let store = place.store().await?;
        let new = self.check_records(store.as_ref()).await?;
        let Some(id) = session.or(new) else {
            return Ok(Left::default());
        };
        let recorded = read(store.as_ref(), &id).await?;
        self.check_events(&id, &recorded, seen)?;
        let Some(session) = self.resume(place, &id, &recorded, seed).await? else {
            return Ok(Left::default());
        };
        // Resuming has finished what was begun, so that new sessions may be there.
        self.check_records(store.as_ref()).await?;
        let unknown = self.finish(store.as_ref(), &session, seed).await?;
        for fork in std::mem::take(&mut self.forks) {
            let recorded = read(store.as_ref(), &fork).await?;
            self.check_events(&fork, &recorded, &[])?;
            let Some(fork) = self.resume(place, &fork, &recorded, seed).await? else {
                bail!("the fork {fork} cannot be resumed");
            };
            let seed = seed.wrapping_add(1 << 40);
            self.finish(store.as_ref(), &fork, seed).await?;
        }
        Ok(Left {
            session: Some(id),
            unknown,
        })
    }

    /// Notes which sessions there are before a child begins.
    pub(crate) async fn look(&mut self, place: &Place) -> anyhow::Result<()> {
        let store = place.store().await?;
        self.check_records(store.as_ref()).await.map(drop)
    }

    /// Lets a resumed session finish a turn, and compares its files with its record.
    async fn finish(
        &mut self,
        store: &dyn SessionStore,
        session: &Session,
        seed: u64,
    ) -> anyhow::Result<u64> {
        let turn = session.send_and_wait(format!("finish {seed}")).await?;
        ensure!(turn.success, "a resumed session does not finish: {turn:?}");
        session.close().await;
        let now = read(store, session.session_id()).await?;
        check_turns(&now)?;
        let unknown = self.check_files(session, &now)?;
        self.events.insert(session.session_id().clone(), now);
        Ok(unknown)
    }

    /// Bindings stay, isolated heads have one session, and nothing executes unbound. Gives the session that is new.
    async fn check_records(
        &mut self,
        store: &dyn SessionStore,
    ) -> anyhow::Result<Option<SessionId>> {
        let mut isolated = BTreeSet::new();
        let mut new = None;
        let mut query = SessionQuery::default();
        loop {
            let page = store.sessions(query.clone()).await?;
            for record in &page.sessions {
                self.check_record(record, &mut isolated)?;
                let known = !self.present.insert(record.id.clone());
                if !known && record.binding.is_some() && new.is_none() {
                    new = Some(record.id.clone());
                }
            }
            match page.next {
                Some(next) => query.after = Some(next),
                None => return Ok(new),
            }
        }
    }

    fn check_record(
        &mut self,
        record: &SessionRecord,
        isolated: &mut BTreeSet<String>,
    ) -> anyhow::Result<()> {
        let id = &record.id;
        let Some(binding) = &record.binding else {
            let last = record.last_sequence;
            ensure!(
                last == Sequence::START,
                "{id} has executed without a binding"
            );
            ensure!(
                !self.bindings.contains_key(id),
                "the binding of {id} is gone"
            );
            return Ok(());
        };
        let text = serde_json::to_string(binding)?;
        let known = self
            .bindings
            .entry(id.clone())
            .or_insert_with(|| text.clone());
        ensure!(
            *known == text,
            "the binding of {id} was {known} and is {text}"
        );
        if binding.access == WorkspaceHeadAccess::Isolated {
            let head = format!("{}/{}", binding.workspace_id, binding.head_id);
            ensure!(isolated.insert(head), "two sessions have the head of {id}");
        }
        Ok(())
    }

    /// What was known before, and what the child saw acknowledged, is there once and in its place.
    fn check_events(
        &self,
        id: &SessionId,
        recorded: &[SessionEvent],
        seen: &[Seen],
    ) -> anyhow::Result<()> {
        let known = self.events.get(id).map_or(&[][..], Vec::as_slice);
        ensure!(recorded.starts_with(known), "events of {id} have changed");
        for (place, event) in (1..).zip(recorded) {
            ensure!(
                event.sequence == Sequence(place),
                "a gap before {}",
                event.sequence
            );
        }
        let mut said = BTreeMap::new();
        for event in recorded {
            if let EventPayload::UserMessage { text } = &event.payload {
                *said.entry(text.as_str()).or_insert(0) += 1;
            }
        }
        ensure!(
            said.values().all(|times| *times == 1),
            "a message is there twice: {said:?}"
        );
        for seen in seen {
            match seen {
                Seen::Event(event) => {
                    let index = usize::try_from(event.sequence.0)? - 1;
                    ensure!(
                        recorded.get(index) == Some(event.as_ref()),
                        "acknowledged {event:?}, but recorded is {:?}",
                        recorded.get(index)
                    );
                }
                Seen::Sent { text } => {
                    ensure!(
                        said.contains_key(text.as_str()),
                        "`{text}` was taken and is lost"
                    );
                }
                Seen::Turn { number, .. } => {
                    let ended = recorded.iter().any(|event| {
                        matches!(&event.payload, EventPayload::TurnEnded { turn, .. } if turn == number)
                    });
                    ensure!(ended, "the end of turn {number} was told and is lost");
                }
                Seen::Active { session } => ensure!(session == id, "{session} is not {id}"),
                Seen::Forked { session } => {
                    ensure!(
                        self.bindings.contains_key(session),
                        "the fork {session} is lost"
                    );
                }
            }
        }
        Ok(())
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

    /// The files are what the events say, starting from where the last check ended. Gives the calls of unknown outcome.
    fn check_files(&mut self, session: &Session, now: &[SessionEvent]) -> anyhow::Result<u64> {
        let id = session.session_id();
        let known = self.events.get(id).map_or(0, Vec::len);
        let head = session.workspace_head().context("it has started")?;
        let folder = head.file_system().host_path(&WorkspacePath::root());
        let files = listed(&folder.context("the head has a folder")?)?;
        let mut course = match self.courses.remove(id) {
            Some(course) => course,
            None => Course::beginning_with(self.fresh.clone()),
        };
        let mut unknown = 0;
        for event in &now[known..] {
            course.apply(event);
            match &event.payload {
                EventPayload::ToolResult {
                    outcome: ToolOutcome::Unknown,
                    ..
                } => unknown += 1,
                EventPayload::ForkEnded {
                    session,
                    made: true,
                } => self.expect_fork(session, &course, now)?,
                _ => {}
            }
        }
        let before = course.clone();
        ensure!(
            course.meet(&files),
            "the files are {files:?}, which the record does not say: {before:?}"
        );
        if head.access() == WorkspaceHeadAccess::Shared {
            // The next session begins with what this one leaves.
            self.fresh.clone_from(&files);
        }
        self.courses.insert(id.clone(), course);
        Ok(unknown)
    }

    /// A fork was made: it has a binding, and will have the events and files of its place.
    fn expect_fork(
        &mut self,
        fork: &SessionId,
        course: &Course,
        events: &[SessionEvent],
    ) -> anyhow::Result<()> {
        ensure!(
            self.bindings.contains_key(fork),
            "the fork {fork} is not bound"
        );
        let place = events.iter().find_map(|event| match &event.payload {
            EventPayload::ForkBegun {
                session, through, ..
            } if session == fork => Some(*through),
            _ => None,
        });
        let place = place.with_context(|| format!("{fork} was not begun"))?;
        let course = course
            .forked_at(place)
            .with_context(|| format!("{fork} was made in the middle of a turn"))?;
        let taken = usize::try_from(place.0)?;
        self.events.insert(fork.clone(), events[..taken].to_vec());
        self.courses.insert(fork.clone(), course);
        self.forks.push(fork.clone());
        Ok(())
    }
}

async fn read(store: &dyn SessionStore, id: &SessionId) -> anyhow::Result<Vec<SessionEvent>> {
    let mut events = Vec::new();
    loop {
        let last = events
            .last()
            .map_or(Sequence::START, |event: &SessionEvent| event.sequence);
        let page = store.events(id, EventQuery::after(last, 1_000)).await?;
        events.extend(page.events);
        if page.next.is_none() {
            return Ok(events);
        }
    }
}

/// Turns follow each other, every call has one result, and every turn has ended.
fn check_turns(events: &[SessionEvent]) -> anyhow::Result<()> {
    let mut open = None;
    let mut last = 0;
    let mut calls: Vec<&str> = Vec::new();
    for event in events {
        match &event.payload {
            EventPayload::TurnStarted { turn } => {
                ensure!(
                    open.is_none() && *turn == last + 1,
                    "turn {turn} begins after {last}"
                );
                (open, last) = (Some(*turn), *turn);
            }
            EventPayload::AssistantMessage { tool_calls, .. } => {
                ensure!(calls.is_empty(), "calls without results: {calls:?}");
                calls.extend(tool_calls.iter().map(|call| call.id.as_str()));
            }
            EventPayload::ToolResult { call_id, .. } => {
                let place = calls.iter().position(|id| id == call_id);
                calls.remove(
                    place.with_context(|| format!("a result without its call: {call_id}"))?,
                );
            }
            EventPayload::TurnEnded { turn, .. } => {
                ensure!(
                    calls.is_empty(),
                    "turn {turn} ends with open calls: {calls:?}"
                );
                ensure!(
                    open.take() == Some(*turn),
                    "turn {turn} ends, but {open:?} runs"
                );
            }
            _ => {}
        }
    }
    ensure!(open.is_none(), "turn {open:?} has not ended");
    Ok(())
}
