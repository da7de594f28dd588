use anyhow::{Context as _, ensure};
use everruns::path::WorkspacePath;
use everruns::session::{EventPayload, SessionEvent, ToolOutcome};
use everruns::{Session, SessionId, WorkspaceHeadAccess};

use super::{Ledger, events};
use crate::child::Seen;
use crate::files::{Course, Update};
use crate::place::listed;

impl Ledger {
    fn course(&self, id: &SessionId) -> Course {
        let known = self.courses.get(id).cloned();
        known.unwrap_or_else(|| Course::beginning_with(self.fresh.clone()))
    }

    /// The files that the child saw at the ends of its turns are what the record says, on heads of every kind.
    pub(super) fn check_told_files(
        &self,
        id: &SessionId,
        recorded: &[SessionEvent],
        seen: &[Seen],
    ) -> anyhow::Result<()> {
        let mut course = self.course(id);
        let mut rest = recorded
            .iter()
            .skip(self.events.get(id).map_or(0, Vec::len))
            .peekable();
        let mut updates = Update::all(seen).into_iter();
        for seen in seen {
            let (Seen::Files { after, .. } | Seen::Updating { after, .. }) = seen else {
                continue;
            };
            while let Some(event) = rest.next_if(|event| event.sequence <= *after) {
                course.apply(event);
            }
            let Seen::Files { files, .. } = seen else {
                course.update(&updates.next().context("there is one for each")?);
                continue;
            };
            let before = course.clone();
            ensure!(
                course.meet(files),
                "after {after} the files were {files:?}, which the record does not say: {before:?}"
            );
        }
        Ok(())
    }

    /// The files are what the events say, starting from where the last check ended. Gives the calls of unknown outcome.
    pub(super) fn check_files(
        &mut self,
        session: &Session,
        now: &[SessionEvent],
        updates: &[Update],
    ) -> anyhow::Result<u64> {
        let id = session.session_id();
        let known = self.events.get(id).map_or(0, Vec::len);
        let head = session.workspace_head().context("it has started")?;
        let folder = head.file_system().host_path(&WorkspacePath::root());
        let files = listed(&folder.context("the head has a folder")?)?;
        let mut course = self.course(id);
        let mut unknown = 0;
        let mut updates = updates.iter().peekable();
        for event in &now[known..] {
            while let Some(update) = updates.next_if(|update| update.after < event.sequence) {
                course.update(update);
            }
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
        recorded: &[SessionEvent],
    ) -> anyhow::Result<()> {
        ensure!(
            self.bindings.contains_key(fork),
            "the fork {fork} is not bound"
        );
        let place = events::begun(recorded, fork);
        let place = place.with_context(|| format!("{fork} was not begun"))?;
        let course = course
            .forked_at(place)
            .with_context(|| format!("{fork} was made in the middle of a turn"))?;
        let taken = usize::try_from(place.0)?;
        self.events.insert(fork.clone(), recorded[..taken].to_vec());
        self.courses.insert(fork.clone(), course);
        self.forks.push(fork.clone());
        Ok(())
    }
}
