//! A worktree that has the target branch checked out, and follows it.
//!
//! This is the one place where files of a user's own working tree are written, because the user asked for it by
//! naming the branch. It takes a worktree in which nothing has been changed.

use gix::ObjectId;
use gix::bstr::ByteSlice as _;
use gix::index::entry::Flags;
use gix::status::index_worktree::Item;

use super::checked_out::Place;
use crate::error::{GitError, GitStep as _, Result};
use crate::files::Files;
use crate::head::{Handle, InUse, Step, check_way, is_head, plan, settle_own};
use crate::index::IndexLock;
use crate::names::path_text;
use crate::scan::{Purpose, path_of, scan};
use crate::state::Lock;
use crate::worktree::is_linked;

/// A worktree in which nothing stands in the way of another commit of its branch, locked against our own operations,
/// against turns and, from before the look at it, against whoever else would change its index.
pub(super) struct Follower {
    pub(super) place: Place,
    pub(super) worktree: gix::Repository,
    pub(super) index: IndexLock,
    _ours: Option<(Lock, InUse)>,
}

/// Why a worktree can't follow.
struct Reason<'a> {
    branch: &'a str,
    place: &'a Place,
}

impl Reason<'_> {
    fn refuse<T>(&self, reason: &'static str, files: Vec<String>) -> Result<T> {
        Err(GitError::BranchCheckedOut {
            branch: self.branch.to_owned(),
            worktree: self.place.folder.clone(),
            reason,
            files,
        })
    }
}

impl Follower {
    /// The worktree at `place`, if nothing has been changed in it.
    pub(super) fn open(handle: &Handle, branch: &str, place: Place) -> Result<Self> {
        let reason = Reason {
            branch,
            place: &place,
        };
        let ours = lock_head(handle, &place)?;
        if !is_linked(&place.folder, &place.git_dir)? {
            return reason.refuse("its folder is missing, or is another worktree", Vec::new());
        }
        let worktree = handle.context.opener.open(&place.git_dir)?;
        let same = worktree.workdir().and_then(|folder| {
            let real = std::fs::canonicalize(folder).ok()?;
            Some(real == std::fs::canonicalize(&place.folder).ok()?)
        });
        if same != Some(true) {
            return reason.refuse(
                "only the repository's configuration says so, as a submodule's does, and it isn't trusted with that; \
                 merge there with Git itself",
                Vec::new(),
            );
        }
        if worktree.state().is_some() {
            return reason.refuse("another operation of Git's is under way in it", Vec::new());
        }
        let index = match IndexLock::take(&worktree.index_path()) {
            Err(GitError::Locked { .. }) => {
                return reason.refuse("another process is changing its index", Vec::new());
            }
            taken => taken?,
        };
        let entries = worktree.index_or_empty().git("read the index")?;
        let is_sparse = |entry: &gix::index::Entry| entry.flags.contains(Flags::SKIP_WORKTREE);
        if entries.is_sparse() || entries.entries().iter().any(is_sparse) {
            return reason.refuse("it is a sparse checkout", Vec::new());
        }
        let changed = changed(&worktree)?;
        if !changed.is_empty() {
            return reason.refuse("files have been changed there", changed);
        }
        Ok(Self {
            place,
            worktree,
            index,
            _ours: ours,
        })
    }

    /// Fails if something that Git doesn't know is where the files of the tree `to` go, or if files would need a
    /// program that isn't run.
    pub(super) fn expect_way(
        &self,
        handle: &Handle,
        branch: &str,
        from: ObjectId,
        to: ObjectId,
    ) -> Result<()> {
        let reason = Reason {
            branch,
            place: &self.place,
        };
        let steps = plan(&self.worktree, from, to)?;
        match check_way(&Files::open(&self.place.folder)?, &steps) {
            Err(GitError::InTheWay { paths }) => {
                return reason.refuse("files that Git doesn't know are in the way", paths);
            }
            outcome => outcome?,
        }
        if handle.context.opener.runs_filters() {
            return Ok(());
        }
        let filtered = filtered(&self.worktree, to, &steps)?;
        if filtered.is_empty() {
            Ok(())
        } else {
            reason.refuse("files need a filter, and filters are not run", filtered)
        }
    }
}

/// Takes the lock of the head whose worktree this is, if it is one of ours, and keeps turns from it.
fn lock_head(handle: &Handle, place: &Place) -> Result<Option<(Lock, InUse)>> {
    let name = place.git_dir.file_name().and_then(|name| name.to_str());
    let Some(id) = name.filter(|_| place.git_dir != handle.workspace.common_dir) else {
        return Ok(None);
    };
    if !is_head(handle.layout(), &handle.workspace.id, id)? {
        return Ok(None);
    }
    // Two heads that are merged into each other at once must not wait for each other.
    let lock = Lock::try_acquire(&handle.layout().head_lock(id))?
        .ok_or_else(|| GitError::HeadInUse { id: id.to_owned() })?;
    // What was half done there would otherwise be finished behind the merge.
    settle_own(&handle.context, id)?;
    let alone = InUse::alone(handle.layout(), id)?;
    Ok(Some((lock, alone)))
}

/// The paths that have been changed in the worktree, untracked files apart.
fn changed(worktree: &gix::Repository) -> Result<Vec<String>> {
    let scan = scan(worktree, Purpose::Compare)?;
    let staged = scan
        .staged
        .iter()
        .map(|change| path_text(change.location()));
    let unstaged = scan.unstaged.iter().filter_map(|item| match item {
        Item::Modification { status, .. } => {
            use gix::status::plumbing::index_as_worktree::EntryStatus;
            let is_change = !matches!(status, EntryStatus::NeedsUpdate(_));
            is_change.then(|| path_text(path_of(item)))
        }
        _ => None,
    });
    let mut paths: Vec<String> = staged.chain(unstaged).collect();
    paths.sort();
    paths.dedup();
    Ok(paths)
}

/// The files among `steps` whose attributes in the tree `to` name a filter.
fn filtered(worktree: &gix::Repository, to: ObjectId, steps: &[Step]) -> Result<Vec<String>> {
    use gix::worktree::stack::state::attributes::Source;
    let step = "read the attributes";
    let index = worktree.index_from_tree(&to).git(step)?;
    let mut stack = worktree
        .attributes_only(&index, Source::IdMapping)
        .git(step)?;
    let mut outcome = stack.selected_attribute_matches(["filter"]);
    let mut found = Vec::new();
    for change in steps {
        let Some((kind, _)) = change.becomes else {
            continue;
        };
        if !matches!(
            kind,
            gix::objs::tree::EntryKind::Blob | gix::objs::tree::EntryKind::BlobExecutable
        ) {
            continue;
        }
        let mode = crate::index::mode_of(kind);
        let platform = stack
            .at_entry(change.path.as_bstr(), Some(mode))
            .git(step)?;
        if platform.matching_attributes(&mut outcome) {
            let named = outcome
                .iter_selected()
                .any(|found| matches!(found.assignment.state, gix::attrs::StateRef::Value(_)));
            if named {
                found.push(path_text(change.path.as_bstr()));
            }
        }
    }
    Ok(found)
}
