use std::sync::Arc;

use everruns_core::clock::Timestamp;
use everruns_core::workspace::{CommitReceipt, CommitRequest, WorkspaceError};

use super::commits::{Commit, Note};
use super::lineage::Lineage;
use super::note;
use super::resource::MemoryHead;
use super::selection::Selection;
use super::state::HeadState;
use super::three_way::put_all;
use crate::disk::blocking;
use crate::memory::{Tree, changes};

/// What goes into a commit.
struct Content {
    tree: Tree,
    /// The paths that it changes, sorted.
    changed: Vec<String>,
}

impl MemoryHead {
    /// Looks at the files without the lock, and starts again when the head has a new commit by then.
    pub(super) async fn commit_files(
        &self,
        request: CommitRequest,
    ) -> Result<CommitReceipt, WorkspaceError> {
        let author = note::author(request.author.as_ref())?;
        loop {
            let (lineage, files) = self.locked(|state| {
                let head = state.head(&self.descriptor.workspace_id, &self.descriptor.id)?;
                head.not_destroyed()?;
                expect_no_conflict(head, &request)?;
                Ok((head.lineage.clone(), head.files.tree()))
            })?;
            let is_merge = lineage.unfinished.is_some();
            let message = match &lineage.unfinished {
                Some(merge) if request.message.trim().is_empty() => merge.message.clone(),
                _ => note::clean(&request.message)?,
            };
            let said = Note {
                message,
                author: author.clone(),
                at: self.shared.options.clock.now(),
            };
            let (last, paths, now) = (lineage.last.tree.clone(), request.paths.clone(), said.at);
            let content = blocking(move || Ok(content(&last, &files, &paths, now))).await?;
            let content = content.map_err(|paths| WorkspaceError::UnknownPaths {
                head: self.descriptor.id.clone(),
                paths,
            })?;
            if content.changed.is_empty() && !is_merge {
                return Err(WorkspaceError::NothingToCommit {
                    head: self.descriptor.id.clone(),
                });
            }
            let is_whole = request.paths.is_empty();
            if let Some(receipt) = self.record_commit(&lineage, content, said, is_whole)? {
                return Ok(receipt);
            }
        }
    }

    /// Moves the head's branch if it is still at the commit that `content` was compared with.
    fn record_commit(
        &self,
        from: &Lineage,
        content: Content,
        said: Note,
        is_whole: bool,
    ) -> Result<Option<CommitReceipt>, WorkspaceError> {
        let mut parents = vec![Arc::clone(&from.last)];
        if is_whole {
            // The state was made from what the head had merged. A part of it says nothing about that.
            parents.extend(from.merged_only().cloned());
        }
        parents.extend(from.unfinished.iter().map(|merge| Arc::clone(&merge.from)));
        let commit = Commit::new(content.tree, parents, said);
        self.locked(|state| {
            let workspace = state.workspace(&self.descriptor.workspace_id)?;
            let head = workspace.head_mut(&self.descriptor.id)?;
            head.not_destroyed()?;
            if !head.lineage.is_at_same(from) {
                return Ok(None);
            }
            head.lineage.unfinished = None;
            let branch = head.branch.clone();
            workspace.move_head(&self.descriptor.id, &commit)?;
            Ok(Some(CommitReceipt {
                revision: commit.tree.revision(),
                branch,
                changed: content.changed,
                uncaptured: Vec::new(),
            }))
        })
    }
}

/// Fails if files are in conflict, unless what is in them settles it.
fn expect_no_conflict(head: &HeadState, request: &CommitRequest) -> Result<(), WorkspaceError> {
    if head.lineage.unfinished.is_some() && !request.paths.is_empty() {
        return Err(WorkspaceError::OperationInProgress {
            head: head.descriptor.id.clone(),
            operation: "merge, which can only be committed as a whole,".to_owned(),
        });
    }
    if request.resolve_conflicts {
        Ok(())
    } else {
        head.not_conflicted()
    }
}

/// What a commit of `paths` holds, or of everything; the paths instead that name nothing.
fn content(
    last: &Tree,
    files: &Tree,
    paths: &[String],
    now: Timestamp,
) -> Result<Content, Vec<String>> {
    let mut taken = changes(last, files);
    if !paths.is_empty() {
        taken = Selection::new(paths, [last, files])?.of(taken);
    }
    let wanted = taken.iter();
    let wanted = wanted.map(|change| (change.path.clone(), change.after.clone()));
    // Branches have no folders without files. Nothing is in the way of a selection, which takes along what gives way.
    let mut tree = last.clone();
    put_all(&mut tree, wanted.collect(), now);
    let paths = taken.iter().map(|change| change.path.relative().to_owned());
    let mut changed: Vec<String> = paths.collect();
    changed.sort();
    Ok(Content { tree, changed })
}
