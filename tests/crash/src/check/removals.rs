//! Sessions that were to be deleted, and heads that were to be destroyed.

use std::collections::BTreeSet;
use std::sync::Arc;

use anyhow::{Context as _, bail, ensure};
use everruns::entropy::SystemEntropy;
use everruns::session::{EventQuery, SessionStore, StoreError};
use everruns::{DestroyReceipt, SessionId, WorkspaceBinding, WorkspaceHead, WorkspaceHeadState};

use super::events::read;
use super::{Done, turns};
use crate::child::Seen;
use crate::files::{Files, of_head};
use crate::place::Place;
use crate::project::Project;

/// A deleted session is gone whole, one that is not is there whole; the work of a destroyed head is under a ref. Gives
/// the sessions that are gone.
pub(super) async fn check(
    done: Done<'_>,
    store: &dyn SessionStore,
) -> anyhow::Result<BTreeSet<SessionId>> {
    let mut gone = BTreeSet::new();
    for (index, seen) in done.seen.iter().enumerate() {
        let Seen::Condemned {
            session,
            binding,
            files,
        } = seen
        else {
            continue;
        };
        let mut later = done.seen[index + 1..]
            .iter()
            .take_while(|seen| !matches!(seen, Seen::Condemned { .. }));
        let deleted = later
            .clone()
            .any(|seen| matches!(seen, Seen::Deleted { session: one } if one == session));
        let destroyed = later.find_map(|seen| match seen {
            Seen::Destroyed(receipt) => Some(receipt.as_ref()),
            _ => None,
        });
        let there = is_there(store, session).await?;
        ensure!(!(deleted && there), "{session} was deleted and is there");
        if !there {
            gone.insert(session.clone());
        }
        if let Some(project) = done.project {
            let work = Work {
                binding,
                files,
                destroyed,
                free: !there,
            };
            work.check(done.place, project).await?;
        }
    }
    Ok(gone)
}

/// Whether the session is there: then it is whole.
pub(super) async fn is_there(
    store: &dyn SessionStore,
    session: &SessionId,
) -> anyhow::Result<bool> {
    match store.session(session).await {
        Ok(record) => {
            let events = read(store, session).await?;
            let last = events.last().context("it had a turn")?.sequence;
            ensure!(
                record.last_sequence == last,
                "{session} has lost its last events"
            );
            turns::check(&events)?;
            Ok(true)
        }
        Err(StoreError::NotFound { .. }) => {
            match store.events(session, EventQuery::last(1)).await {
                Err(StoreError::NotFound { .. }) => Ok(false),
                left => bail!("{session} is deleted, but of its events is left: {left:?}"),
            }
        }
        Err(error) => Err(error.into()),
    }
}

/// The work of a head whose session was to be deleted.
struct Work<'a> {
    binding: &'a WorkspaceBinding,
    files: &'a Files,
    destroyed: Option<&'a DestroyReceipt>,
    /// Whether no session has the head any more.
    free: bool,
}

impl Work<'_> {
    async fn check(&self, place: &Place, project: &Project) -> anyhow::Result<()> {
        let workspace = place.workspace().await?;
        let id = &self.binding.head_id;
        let heads = workspace.heads().await?;
        let found = heads.into_iter().find(|head| head.id == *id);
        let ready = found
            .as_ref()
            .is_some_and(|head| head.state == WorkspaceHeadState::Ready);
        if !ready {
            return self.is_kept(project);
        }
        ensure!(
            self.destroyed.is_none(),
            "head {id} was destroyed and is there"
        );
        let backend = Arc::clone(workspace.backend());
        let head = WorkspaceHead::reopen(backend, self.binding).await?;
        let files = of_head(&head).await?;
        ensure!(
            files == *self.files,
            "the files of head {id}, which is not destroyed, are {files:?}"
        );
        if self.free {
            let other = SessionId::generate(&SystemEntropy);
            head.claim(&other)
                .await
                .context("the head of a deleted session is not free")?;
            head.release(&other).await?;
        }
        Ok(())
    }

    /// What was not committed is under a ref of the head, and its branch is there.
    fn is_kept(&self, project: &Project) -> anyhow::Result<()> {
        let id = &self.binding.head_id;
        if let Some(receipt) = self.destroyed {
            let kept = receipt
                .kept_ref
                .as_ref()
                .context("a receipt without a ref")?;
            let branch = receipt.kept_branch.as_ref().context("no branch is kept")?;
            ensure!(
                project.files_of(kept)? == project.without_links(self.files),
                "{kept} does not hold the work"
            );
            ensure!(
                project.resolves(&format!("refs/heads/{branch}")),
                "the branch {branch} is gone"
            );
            return Ok(());
        }
        let refs = project.refs_of(id)?;
        for kept in &refs {
            if project.files_of(kept)? == project.without_links(self.files) {
                return Ok(());
            }
        }
        bail!("head {id} is destroyed, and none of {refs:?} holds its work")
    }
}
