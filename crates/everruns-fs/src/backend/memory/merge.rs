use std::sync::Arc;

use everruns_core::clock::Timestamp;
use everruns_core::path::WorkspacePath;
use everruns_core::workspace::{
    ConflictSide, MergeConflict, MergeOutcome, MergeRequest, MergeStrategy, WorkspaceError,
};
use similar::TextMerge;

use super::resource::MemoryHead;
use super::state::{HeadState, State};
use crate::disk::blocking;
use crate::memory::{File, Node, Tree, TreeChange, changes};

/// The three states of a merge.
#[derive(Clone, Debug)]
struct Sides {
    /// What both sides began with.
    base: Tree,
    branch: Tree,
    head: Tree,
}

impl MemoryHead {
    /// Merges without the lock, and starts again when the branch has moved meanwhile.
    pub(super) async fn merge(
        &self,
        request: MergeRequest,
    ) -> Result<MergeOutcome, WorkspaceError> {
        loop {
            let sides = self.locked(|state| self.sides(state, &request.branch))?;
            let (now, strategy) = (self.shared.options.clock.now(), request.strategy);
            let for_merge = sides.clone();
            let merged = blocking(move || Ok(three_way(&for_merge, now))).await?;
            let merged = match merged {
                Ok(merged) => merged,
                Err(conflicts) if strategy != MergeStrategy::FastForward => {
                    return Ok(MergeOutcome::Conflicts(conflicts));
                }
                Err(_) => return Err(diverged(&request.branch)),
            };
            if strategy == MergeStrategy::FastForward
                && merged.is_some()
                && !sides.branch.has_same_files(&sides.base)
            {
                return Err(diverged(&request.branch));
            }
            // What the head merged before is freed without the lock.
            if let Some((outcome, _before)) =
                self.locked(|state| self.move_branch(state, &request.branch, &sides, merged))?
            {
                return Ok(outcome);
            }
        }
    }

    fn sides(&self, state: &mut State, branch: &str) -> Result<Sides, WorkspaceError> {
        let head = state.head(&self.descriptor.workspace_id, &self.descriptor.id)?;
        head.not_destroyed()?;
        let base = head.lineage.base_of(branch).clone();
        let now = head.files.tree();
        let workspace = state.workspace(&self.descriptor.workspace_id)?;
        let tip = workspace.branches.get(branch).cloned();
        let branch = tip.ok_or_else(|| WorkspaceError::UnknownRevision {
            revision: branch.to_owned(),
            reason: "there is no such branch".to_owned(),
        })?;
        Ok(Sides {
            base,
            branch,
            head: now,
        })
    }

    /// Moves the branch if it is still where the merge found it, or only notes that it has all of the head. Also gives what
    /// the head's merges started from before.
    fn move_branch(
        &self,
        state: &mut State,
        branch: &str,
        sides: &Sides,
        merged: Option<Tree>,
    ) -> Result<Option<(MergeOutcome, Vec<Tree>)>, WorkspaceError> {
        let workspace = state.workspace(&self.descriptor.workspace_id)?;
        let is_same = |tip: &Tree| tip.revision() == sides.branch.revision();
        if !workspace.branches.get(branch).is_some_and(is_same) {
            return Ok(None);
        }
        let outcome = match merged {
            None => MergeOutcome::UpToDate,
            Some(merged) => {
                let revision = workspace.keep_branch(&merged);
                workspace.branches.insert(branch.to_owned(), merged);
                MergeOutcome::Merged { revision }
            }
        };
        if sides.head.has_same_files(&sides.base) {
            return Ok(Some((outcome, Vec::new())));
        }
        let named = workspace.note_merged(branch, &sides.head);
        let head = state.head(&self.descriptor.workspace_id, &self.descriptor.id)?;
        let mut before = head.note_merged(branch, &sides.head);
        before.extend(named);
        Ok(Some((outcome, before)))
    }
}

impl HeadState {
    /// Notes that a branch holds this state by now: the next merges start there, also those of what is made from a
    /// checkpoint of it.
    fn note_merged(&mut self, branch: &str, state: &Tree) -> Vec<Tree> {
        self.has_merged = true;
        let mut before = self.kept.note_merged(branch, state);
        before.extend(self.lineage.merged.set(branch, state.clone()));
        before
    }
}

fn diverged(branch: &str) -> WorkspaceError {
    WorkspaceError::BranchDiverged {
        branch: branch.to_owned(),
    }
}

/// The merged state; `None` when the branch has all of it already.
fn three_way(sides: &Sides, now: Timestamp) -> Result<Option<Tree>, Vec<MergeConflict>> {
    let mut wanted = Vec::new();
    let mut conflicts = Vec::new();
    for change in changes(&sides.base, &sides.head) {
        let there = sides.branch.file(&change.path);
        match merge_file(&change, there, now) {
            Ok(None) => {}
            Ok(Some(file)) => wanted.push((change, file)),
            Err(detail) => conflicts.push(conflict(&change, there, detail)),
        }
    }
    let mut merged = sides.branch.clone();
    let (gone, made): (Vec<_>, Vec<_>) = wanted.into_iter().partition(|(_, file)| file.is_none());
    for (change, _) in gone {
        merged.take(&change.path, now);
        take_empty_folders(&mut merged, &change.path, now);
    }
    for (change, file) in made {
        let Some(file) = file else { continue };
        if is_in_the_way(&merged, &change.path) {
            let there = sides.branch.file(&change.path);
            let detail = "a file is where the other side has a folder";
            conflicts.push(conflict(&change, there, detail));
        } else {
            merged.put(&change.path, Node::File(file), now);
        }
    }
    if conflicts.is_empty() {
        // What both sides changed may come to what the branch has.
        let is_unchanged = merged.revision() == sides.branch.revision();
        Ok((!is_unchanged).then_some(merged))
    } else {
        conflicts.sort_by(|a, b| a.path.cmp(&b.path));
        Err(conflicts)
    }
}

/// What to do with one file that the head changed: nothing, or to put or remove (`Some(None)`) it.
#[expect(
    clippy::option_option,
    reason = "the outer one is whether to do anything"
)]
fn merge_file(
    change: &TreeChange,
    there: Option<&Arc<File>>,
    now: Timestamp,
) -> Result<Option<Option<Arc<File>>>, &'static str> {
    let same = |a: Option<&Arc<File>>, b: Option<&Arc<File>>| match (a, b) {
        (None, None) => true,
        (Some(a), Some(b)) => a.is_same(b),
        _ => false,
    };
    let (before, ours) = (change.before.as_ref(), change.after.as_ref());
    if same(there, ours) {
        return Ok(None);
    }
    if same(there, before) {
        return Ok(Some(ours.map(Arc::clone)));
    }
    match (before, ours, there) {
        (Some(base), Some(ours), Some(theirs)) => {
            merge_text(base, ours, theirs, now).map(|file| Some(Some(Arc::new(file))))
        }
        (None, _, _) => Err("both sides added it, with different content"),
        (Some(_), None, _) => Err("the head deleted it and the branch changed it"),
        (Some(_), Some(_), None) => Err("the branch deleted it and the head changed it"),
    }
}

fn merge_text(
    base: &File,
    ours: &File,
    theirs: &File,
    now: Timestamp,
) -> Result<File, &'static str> {
    // Who changed the mode wins; both can only have changed it to the same.
    let executable = if ours.executable == base.executable {
        theirs.executable
    } else {
        ours.executable
    };
    let whole = |file: &File| File::new(file.bytes.clone(), executable, now);
    if ours.version == base.version || ours.version == theirs.version {
        return Ok(whole(theirs));
    }
    if theirs.version == base.version {
        return Ok(whole(ours));
    }
    let text = |file: &File| std::str::from_utf8(&file.bytes).map(str::to_owned);
    let (Ok(base), Ok(ours), Ok(theirs)) = (text(base), text(ours), text(theirs)) else {
        return Err("both sides changed it, and it is not text");
    };
    let merge = TextMerge::from_lines(&base, &ours, &theirs);
    if merge.is_conflicted() {
        return Err("both sides changed the same lines");
    }
    Ok(File::new(merge.to_string().into(), executable, now))
}

/// Removes folders that a deletion emptied: branches have none without files.
fn take_empty_folders(tree: &mut Tree, path: &WorkspacePath, now: Timestamp) {
    let mut folder = path.parent();
    while let Some(path) = folder {
        let is_empty = matches!(tree.get(&path), Some(Node::Folder(folder)) if folder.is_empty());
        if !is_empty || path.is_top() {
            return;
        }
        tree.take(&path, now);
        folder = path.parent();
    }
}

/// Whether there is a folder at `path`, or a file above it.
fn is_in_the_way(tree: &Tree, path: &WorkspacePath) -> bool {
    if matches!(tree.get(path), Some(Node::Folder(_))) {
        return true;
    }
    let mut folder = path.parent();
    while let Some(path) = folder {
        if tree.file(&path).is_some() {
            return true;
        }
        folder = path.parent();
    }
    false
}

fn conflict(change: &TreeChange, there: Option<&Arc<File>>, detail: &str) -> MergeConflict {
    let side = |file: Option<&Arc<File>>| {
        file.map(|file| ConflictSide {
            revision: file.version.to_string(),
            mode: file.git_mode(),
        })
    };
    MergeConflict {
        path: change.path.relative().to_owned(),
        detail: detail.to_owned(),
        base: side(change.before.as_ref()),
        ours: side(there),
        theirs: side(change.after.as_ref()),
    }
}
