//! What people do to heads between turns.

use anyhow::{Context as _, bail};
use everruns::{UpdateOutcome, UpdateRequest, WorkspaceHead};

use super::Seen;
use super::travel::{Traveller, author};
use crate::files::of_head;
use crate::project::upstream_file;

impl Traveller {
    pub(super) fn head(&self) -> anyhow::Result<WorkspaceHead> {
        let head = self.session.workspace_head();
        head.context("the session has no head")
    }

    /// Brings the branch with one more file into the head.
    pub(super) async fn update(&self) -> anyhow::Result<()> {
        let after = self.last().await?;
        let (path, text) = upstream_file(&self.upstream);
        Seen::Updating { after, path, text }.tell()?;
        let request = UpdateRequest {
            branch: self.upstream.clone(),
            message: None,
            author: Some(author()),
        };
        match self.head()?.update(request).await? {
            UpdateOutcome::UpToDate
            | UpdateOutcome::FastForwarded { .. }
            | UpdateOutcome::Merged { .. } => Seen::Updated.tell()?,
            other => bail!("a file that is new conflicts: {other:?}"),
        }
        self.tell_files().await
    }

    pub(super) async fn prune(&self) -> anyhow::Result<()> {
        let head = self.head()?;
        let all = head.checkpoints().await?;
        let latest = all.into_iter().max_by_key(|checkpoint| checkpoint.number);
        let latest = latest.and_then(|checkpoint| checkpoint.location);
        Seen::Pruning { latest }.tell()?;
        let receipt = head.prune_checkpoints(1).await?;
        let removed = receipt.removed.into_iter();
        let removed = removed.filter_map(|checkpoint| checkpoint.location);
        Seen::Pruned {
            removed: removed.collect(),
        }
        .tell()
    }

    /// Makes a session with a turn and with work that is not committed, and archives its head.
    pub(super) async fn archive(&self, name: &str) -> anyhow::Result<()> {
        let (session, head) = self.another(name).await?;
        Seen::Retiring {
            session,
            binding: Box::new(head.binding()),
            files: of_head(&head).await?,
        }
        .tell()?;
        Seen::Archived(Box::new(head.archive().await?)).tell()
    }
}
