//! Branches that conflict with a head.

use anyhow::{Context as _, bail, ensure};
use everruns::file_system::{Precondition, ReadRange};
use everruns::path::WorkspacePath;
use everruns::{
    CommitRequest, EntryState, UpdateOutcome, UpdateRequest, WorkspaceError, WorkspaceHead,
};

use super::Seen;
use super::travel::{Traveller, author};
use crate::clash::{resolved, side_of_head};
use crate::project::clash_file;
use crate::random::Random;

/// The checkpoint to which a head goes back that is not to have the branch after all.
const LABEL: &str = "before a clash";

impl Traveller {
    /// Brings a branch into the head that adds the same file as the head, and resolves the conflict.
    pub(super) async fn clash(&self, random: &mut Random) -> anyhow::Result<()> {
        let head = self.head()?;
        let (path, _) = clash_file(&self.clashing);
        let ours = side_of_head(&self.clashing);
        write(&head, &path, &ours).await?;
        match head.commit(request("ours", false)).await {
            Ok(_) | Err(WorkspaceError::NothingToCommit { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        head.checkpoint_labelled(LABEL).await?;
        let branch = self.clashing.clone();
        Seen::Clashing { branch }.tell()?;
        let request = UpdateRequest {
            branch: self.clashing.clone(),
            message: None,
            author: Some(author()),
        };
        match head.update(request).await? {
            UpdateOutcome::Conflicts(conflicts) => {
                let paths: Vec<_> = conflicts.iter().map(|one| &one.path).collect();
                ensure!(paths == [&path], "{path} should conflict: {conflicts:?}");
                Seen::Clashed.tell()?;
                self.resolve(random).await
            }
            // An earlier one was resolved by a commit.
            UpdateOutcome::UpToDate => Seen::Unclashed.tell(),
            other => bail!("{path} was added twice and does not conflict: {other:?}"),
        }
    }

    /// Resolves the conflict that a killed process has left, or this one has made.
    pub(super) async fn resolve(&self, random: &mut Random) -> anyhow::Result<()> {
        let head = self.head()?;
        let status = head.status().await?;
        // As Git has it, what both sides have added is in conflict.
        let both = (EntryState::Added, EntryState::Added);
        let mut entries = status.entries.iter();
        let entry = entries.find(|entry| (entry.staged, entry.unstaged) == both);
        ensure!(
            status.conflicted == entry.is_some(),
            "a conflict and a file, or none of both: {status:?}"
        );
        let Some(entry) = entry else {
            return Ok(());
        };
        let path = entry.path.clone();
        let taken = head.checkpoints().await?.into_iter();
        let before = taken
            .filter(|checkpoint| checkpoint.label.as_deref() == Some(LABEL))
            .max_by_key(|checkpoint| checkpoint.number);
        let Some(before) = before.filter(|_| random.percent(50)) else {
            let by_commit = true;
            Seen::Resolving { path, by_commit }.tell()?;
            let path = entry.path.as_str();
            let (files, at) = (head.file_system(), WorkspacePath::parse(path)?);
            let content = files.read(&at, ReadRange::ALL).await?;
            let text = String::from_utf8_lossy(content.bytes()).into_owned();
            ensure!(
                text.contains("<<<<<<< HEAD\n") || text == resolved(path),
                "{path} is in conflict and says {text:?}"
            );
            write(&head, path, &resolved(path)).await?;
            head.commit(request("both", true)).await?;
            return is_over(&head).await;
        };
        let by_commit = false;
        Seen::Resolving { path, by_commit }.tell()?;
        head.restore(&before).await?;
        is_over(&head).await
    }
}

async fn is_over(head: &WorkspaceHead) -> anyhow::Result<()> {
    let status = head.status().await?;
    ensure!(!status.conflicted, "still in conflict: {status:?}");
    Seen::Resolved.tell()
}

async fn write(head: &WorkspaceHead, path: &str, text: &str) -> anyhow::Result<()> {
    let path = WorkspacePath::parse(path)?;
    let files = head.file_system();
    let written = files.write(&path, text.to_owned().into(), Precondition::Any);
    written.await.context("a file can be written").map(drop)
}

fn request(message: &str, resolve_conflicts: bool) -> CommitRequest {
    CommitRequest {
        author: Some(author()),
        resolve_conflicts,
        ..CommitRequest::new(message)
    }
}
