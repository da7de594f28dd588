use std::sync::Arc;

use everruns::file_system::Precondition;
use everruns::path::WorkspacePath;
use everruns::session::{EventPayload, Sequence};
use everruns::{
    CommitIdentity, CommitRequest, Engine, MergeOutcome, MergeRequest, MergeStrategy, Session,
    SessionError, SessionId, WorkspaceBackend, WorkspaceError, WorkspaceHead,
};
use futures::StreamExt as _;

use super::Seen;
use crate::files::{Files, of_head};
use crate::place::{Kind, Place, agent};
use crate::random::Random;
use crate::script::short;
use crate::trip::Trip;

/// What a child does between its turns.
pub(super) struct Traveller {
    pub(super) place: Place,
    pub(super) engine: Engine,
    pub(super) backend: Arc<dyn WorkspaceBackend>,
    pub(super) session: Session,
    pub(super) branch: String,
    /// The branch to bring into the head.
    pub(super) upstream: String,
    /// The branch that conflicts with the head.
    pub(super) clashing: String,
}

impl Traveller {
    pub(super) async fn go(
        &self,
        trip: Trip,
        random: &mut Random,
        name: &str,
    ) -> anyhow::Result<()> {
        match trip {
            Trip::Rewind => self.rewind(random).await,
            Trip::Fork => self.fork(random, name).await,
            Trip::Commit => self.commit(name).await,
            Trip::Merge => self.merge(random).await,
            Trip::Discard => self.discard(name).await,
            Trip::Update => self.update().await,
            Trip::Clash => self.clash(random).await,
            Trip::Prune => self.prune().await,
            Trip::Archive => self.archive(name).await,
        }
    }

    /// Tells how the files are now.
    pub(super) async fn tell_files(&self) -> anyhow::Result<()> {
        let after = self.last().await?;
        let files = self.files().await?;
        Seen::Files { after, files }.tell()
    }

    pub(super) async fn last(&self) -> anyhow::Result<Sequence> {
        let record = self.engine.store().session(self.session.session_id());
        Ok(record.await?.last_sequence)
    }

    async fn files(&self) -> anyhow::Result<Files> {
        match self.session.workspace_head() {
            Some(head) => of_head(&head).await,
            None => anyhow::bail!("the session has no head"),
        }
    }

    async fn rewind(&self, random: &mut Random) -> anyhow::Result<()> {
        let place = *random.pick(&self.places().await?);
        match self.session.rewind(place).await {
            Ok(_) => self.tell_files().await,
            Err(error) => refused(error),
        }
    }

    async fn fork(&self, random: &mut Random, name: &str) -> anyhow::Result<()> {
        let place = *random.pick(&self.places().await?);
        match self.session.fork_at(name, place).await {
            Ok(fork) => {
                let session = fork.session_id().clone();
                fork.close().await;
                Seen::Forked { session }.tell()
            }
            Err(error) => refused(error),
        }
    }

    async fn commit(&self, name: &str) -> anyhow::Result<()> {
        let head = self.session.workspace_head();
        let Some(head) = head else { return Ok(()) };
        let files = of_head(&head).await?;
        let request = CommitRequest {
            author: Some(author()),
            ..CommitRequest::new(name)
        };
        match head.commit(request).await {
            Ok(receipt) => Seen::Commit {
                revision: receipt.revision,
                branch: receipt.branch,
                files,
            }
            .tell(),
            Err(WorkspaceError::NothingToCommit { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    async fn merge(&self, random: &mut Random) -> anyhow::Result<()> {
        let head = self.session.workspace_head();
        let Some(head) = head else { return Ok(()) };
        let strategy = if random.percent(50) {
            MergeStrategy::MergeCommit
        } else {
            MergeStrategy::Squash
        };
        let files = of_head(&head).await?;
        let request = MergeRequest {
            branch: self.branch.clone(),
            strategy,
            author: Some(author()),
            ..MergeRequest::default()
        };
        match head.merge(request).await? {
            MergeOutcome::Merged { revision } => Seen::Commit {
                revision,
                branch: self.branch.clone(),
                files,
            }
            .tell(),
            _ => Ok(()),
        }
    }

    /// Makes a session with a turn and with work that is not committed, deletes it, and destroys its head, where no
    /// other session has it.
    async fn discard(&self, name: &str) -> anyhow::Result<()> {
        let (session, head) = self.another(name).await?;
        Seen::Condemned {
            session: session.clone(),
            binding: Box::new(head.binding()),
            files: of_head(&head).await?,
        }
        .tell()?;
        let id = session.as_str().to_owned();
        self.engine.delete_session(&session, &id).await?;
        Seen::Deleted { session }.tell()?;
        if self.place.kind == Kind::Directory {
            return Ok(());
        }
        Seen::Destroyed(Box::new(head.destroy().await?)).tell()
    }

    /// Makes a session with a turn and with work that is not committed, and lets go of it.
    pub(super) async fn another(&self, name: &str) -> anyhow::Result<(SessionId, WorkspaceHead)> {
        let head = self.place.head(Arc::clone(&self.backend), name).await?;
        let agent = agent(Arc::clone(&self.backend), short())?;
        let other = self.engine.create(agent).workspace(head.clone());
        other.start().await?;
        other.send_and_wait("Be short.").await?;
        other.close().await;
        let session = other.session_id().clone();
        drop(other);
        if self.place.kind != Kind::Directory {
            let path = WorkspacePath::parse("unsaved.txt")?;
            let text = format!("{name}\n").into();
            let files = head.file_system();
            files.write(&path, text, Precondition::Absent).await?;
        }
        Ok((session, head))
    }

    /// Where turns ended, those included from which the session went back.
    async fn places(&self) -> anyhow::Result<Vec<Sequence>> {
        let last = self.last().await?;
        let mut events = self.session.events(Sequence::START);
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
}

/// Neither an event in a turn, nor one whose checkpoint was forgotten, is a place to go back to.
fn refused(error: SessionError) -> anyhow::Result<()> {
    match error {
        SessionError::NotBetweenTurns { .. }
        | SessionError::Workspace(WorkspaceError::CheckpointNotFound { .. }) => Ok(()),
        error => Err(error.into()),
    }
}

pub(super) fn author() -> CommitIdentity {
    CommitIdentity::new("Crash", "crash@example.com")
}
