//! Committing the working state of a head on its branch.

use everruns_core::failpoint::hit;
use everruns_core::workspace::CommitRequest;
use gix::ObjectId;
use gix::bstr::{BString, ByteSlice as _};

use super::selection::Selection;
use super::{Identity, clean};
use crate::advance::{self, Advance, MergeState, Trees, expect_storable, merging};
use crate::checkpoint::{self, Captured};
use crate::error::{GitError, GitStep as _, Result};
use crate::head::{Handle, plan};
use crate::names::path_text;
use crate::objects::Edits;
use crate::state::path_text as record_text;

/// A commit that was made.
#[derive(Debug, Clone)]
pub(crate) struct Committed {
    /// The commit.
    pub(crate) id: ObjectId,
    /// The paths that it changed.
    pub(crate) changed: Vec<BString>,
    /// The state that was found.
    pub(crate) state: Captured,
}

/// What goes into the commit, and what becomes of the index.
struct Content {
    tree: ObjectId,
    index: Trees,
    settled: Vec<String>,
}

/// Commits what `request` asks for, with the head's branch moved by compare-and-swap.
///
/// A turn may run meanwhile: only the index and the branch change, no file that the turn reads or writes. It is so, too,
/// when this is cut short and finished by another process.
pub(crate) fn commit(handle: &Handle, request: &CommitRequest) -> Result<Committed> {
    let _lock = handle.lock_whole()?;
    let worktree = handle.open()?;
    handle.expect_own_branch(&worktree)?;
    let merge = merging(&worktree)?;
    let message = match (&merge, request.message.trim().is_empty()) {
        (Some(merge), true) => clean(&merge.message)?,
        _ => clean(&request.message)?,
    };
    let identity = Identity::of(&worktree, request.author.as_ref())?;
    let state = checkpoint::capture(&worktree)?;
    hit("git.commit.after-trees")?;
    expect_storable(&worktree, &state)?;
    expect_no_conflict(&state, request, merge.is_some())?;
    let content = if request.paths.is_empty() {
        everything(&state)
    } else {
        selected(&worktree, &state, &request.paths)?
    };
    if content.tree == state.head_tree && merge.is_none() {
        return Err(GitError::NothingToCommit);
    }
    let heads = merge.map(|merge| merge.heads).unwrap_or_default();
    let parents: Vec<ObjectId> = std::iter::once(state.head)
        .filter(|head| !head.is_null())
        .chain(heads.iter().copied())
        .collect();
    let now = handle.context.now();
    let id = identity.write(&worktree, &message, content.tree, &parents, now)?;
    hit("git.commit.after-commit")?;
    handle.context.flushed.flush(&worktree)?;
    hit("git.commit.after-flush")?;
    let subject = message.lines().next().unwrap_or_default();
    let place = handle.worktree();
    let advance = Advance {
        git_dir: place.record,
        folder: place.folder,
        branch: handle.record.branch_ref(),
        from: state.head,
        to: id,
        files: Trees {
            from: content.tree,
            to: content.tree,
        },
        index: content.index,
        settled: content.settled,
        stages: Vec::new(),
        merge: match heads.first() {
            Some(head) => MergeState::Conclude { head: *head },
            None => MergeState::None,
        },
        why: format!("commit: {subject}"),
    };
    advance::run(handle, &worktree, &advance)?;
    // Only the next comparison's speed depends on it.
    if let Err(failure) = advance::refresh(&worktree, &advance.folder, now, advance.index.to) {
        tracing::debug!(error = %failure, "the index could not be refreshed");
    }
    let changed = plan(&worktree, state.head_tree, content.tree)?;
    Ok(Committed {
        id,
        changed: changed.into_iter().map(|step| step.path).collect(),
        state,
    })
}

/// Fails if files are in conflict, unless what is in them settles it.
fn expect_no_conflict(state: &Captured, request: &CommitRequest, merging: bool) -> Result<()> {
    let partial = !request.paths.is_empty();
    if partial && merging {
        return Err(GitError::UnderWay {
            operation: "merge, which can only be committed as a whole,".to_owned(),
        });
    }
    let stages = &state.manifest.stages;
    if stages.is_empty() || (request.resolve_conflicts && !partial) {
        return Ok(());
    }
    let mut paths: Vec<String> = stages
        .iter()
        .map(|stage| path_text(stage.path.as_bstr()))
        .collect();
    paths.dedup();
    Err(GitError::InConflict { paths })
}

/// All files; the index becomes what they are.
fn everything(state: &Captured) -> Content {
    let announced = state.manifest.announced.iter().map(|entry| &entry.path);
    let in_conflict = state.manifest.stages.iter().map(|entry| &entry.path);
    let mut settled: Vec<String> = announced
        .chain(in_conflict)
        .map(|path| record_text::encode(path))
        .collect();
    settled.dedup();
    Content {
        tree: state.files,
        index: Trees {
            from: state.index,
            to: state.files,
        },
        settled,
    }
}

/// The last commit with what is at `paths` now; elsewhere, the index stays as it is.
fn selected(worktree: &gix::Repository, state: &Captured, paths: &[String]) -> Result<Content> {
    let mut selection = Selection::new(paths)?;
    let tree = with_selected(worktree, state.head_tree, state.files, &mut selection)?;
    let index = with_selected(worktree, state.index, state.files, &mut selection)?;
    let known = worktree.index_or_empty().git("read the index")?;
    for entry in known.entries() {
        selection.takes(entry.path(&known));
    }
    selection.expect_found()?;
    let announced = state.manifest.announced.iter();
    let settled = announced
        .filter(|entry| selection.takes(entry.path.as_bstr()))
        .map(|entry| record_text::encode(&entry.path))
        .collect();
    Ok(Content {
        tree,
        index: Trees {
            from: state.index,
            to: index,
        },
        settled,
    })
}

/// The tree `from`, with what `selection` takes as it is in the tree `to`.
fn with_selected(
    worktree: &gix::Repository,
    from: ObjectId,
    to: ObjectId,
    selection: &mut Selection,
) -> Result<ObjectId> {
    if from == to {
        return Ok(from);
    }
    let mut edits = Edits::default();
    for step in plan(worktree, from, to)? {
        if !selection.takes(step.path.as_bstr()) {
            continue;
        }
        match step.becomes {
            Some((kind, id)) => edits.upsert(step.path.as_bstr(), kind, id),
            None => edits.removed.push(step.path),
        }
    }
    edits.apply(worktree, from)
}
