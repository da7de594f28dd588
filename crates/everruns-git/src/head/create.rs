//! Making a head, in steps that a crash between any two of them leaves to be undone.

use std::path::PathBuf;

use everruns_core::failpoint::hit;
use everruns_core::ids::WorkspaceHeadId;
use gix::ObjectId;
use gix::bstr::ByteSlice as _;

use super::plan::plan;
use super::recover::undo_creation;
use crate::checkpoint::{Captured, Manifest};
use crate::context::Context;
use crate::error::{GitStep as _, Result};
use crate::ignored::{self, Patterns};
use crate::index;
use crate::names;
use crate::repository::{Refs, tell_lack};
use crate::state::{
    HeadRecord, HeadState, Intent, Lock, NameSlot, Operation, Origin, WorkspaceRecord,
};
use crate::worktree::{LOCK_REASON, NewRecord, Worktree, populate};

/// How many bytes of trees are kept while a head is made of them.
const TREES_KEPT: usize = 16 << 20;

/// What a new head starts from.
#[derive(Debug, Clone)]
pub(crate) enum Start {
    /// No commit: the repository has none, and the head's branch is to be born by its first one.
    Nothing,
    /// A commit.
    Commit(ObjectId),
    /// The state that a checkpoint holds.
    State(Box<Captured>),
}

impl Start {
    /// The commit; `None` where there is none yet.
    fn commit(&self) -> Option<ObjectId> {
        match self {
            Self::Nothing => None,
            Self::Commit(commit) => Some(*commit),
            Self::State(state) => state.commit(),
        }
    }

    fn state(self, repository: &gix::Repository) -> Result<Captured> {
        match self {
            Self::State(state) => Ok(*state),
            Self::Nothing => Ok(Captured::nothing(repository.object_hash())),
            Self::Commit(head) => {
                let commit = repository
                    .find_commit(head)
                    .git("read the commit to start from")?;
                let tree = commit
                    .tree_id()
                    .git("read the commit to start from")?
                    .detach();
                Ok(Captured {
                    head,
                    head_tree: tree,
                    index: tree,
                    files: tree,
                    manifest: Manifest::default(),
                })
            }
        }
    }
}

/// A wish for a head.
#[derive(Debug, Clone)]
pub(crate) struct NewHead {
    /// Its name.
    pub(crate) name: String,
    /// Its name, fit for a branch.
    pub(crate) slug: String,
    /// Whether several sessions may use it.
    pub(crate) shared: bool,
    /// What it starts from.
    pub(crate) start: Start,
    /// How that was asked for.
    pub(crate) revision: String,
    /// Where it is forked from, if it is.
    pub(crate) origin: Option<Origin>,
    /// The Git directory of the user's worktree that the wish comes from, if it is known.
    pub(crate) opened_in: Option<PathBuf>,
    /// The patterns of ignored files to bring along, beside those that the repository names.
    pub(crate) include_ignored: Vec<String>,
}

/// Makes the head. When this fails nothing of it is left; after a crash, the next open removes what is.
pub(crate) fn create(
    context: &Context,
    workspace: &WorkspaceRecord,
    new: NewHead,
) -> Result<HeadRecord> {
    let repository = context.repository(workspace)?;
    let (id, branch) = free_identity(context, &repository, &new.slug)?;
    let record = HeadRecord {
        branch,
        workspace: workspace.id.clone(),
        name: new.name.clone(),
        base: match new.start.commit() {
            Some(commit) => commit,
            None => ObjectId::empty_tree(repository.object_hash()),
        }
        .to_string(),
        base_revision: new.revision.clone(),
        shared: new.shared,
        state: HeadState::Ready,
        origin: new.origin.clone(),
        include_ignored: new.include_ignored.clone(),
        kept: None,
        created_at: context.now(),
        id,
    };
    let _lock = Lock::acquire(&context.layout.head_lock(&record.id), &record.id)?;
    Intent {
        head: record.clone(),
        operation: Operation::Create,
    }
    .save(&context.layout)?;
    match build(context, workspace, &repository, &record, new) {
        Ok(()) => Ok(record),
        Err(failure) => {
            if let Err(second) = undo_creation(context, workspace, &record) {
                tracing::warn!(head = record.id, error = %second, "a failed creation is left for the next open");
            }
            let failure = tell_lack(failure, Some(&repository));
            Err(failure.at_repository(&workspace.common_dir))
        }
    }
}

/// An id, and a branch that nobody has.
///
/// The undoing of a creation removes the branch, so it must not be one that was there before.
fn free_identity(
    context: &Context,
    repository: &gix::Repository,
    slug: &str,
) -> Result<(String, String)> {
    let refs = Refs::new(repository, context.now());
    loop {
        let id = WorkspaceHeadId::generate(&*context.entropy).to_string();
        let branch = names::branch(slug, &id);
        if refs.target(&format!("refs/heads/{branch}"))?.is_none() {
            return Ok((id, branch));
        }
    }
}

fn build(
    context: &Context,
    workspace: &WorkspaceRecord,
    repository: &gix::Repository,
    record: &HeadRecord,
    new: NewHead,
) -> Result<()> {
    hit("git.create.after-intent")?;
    NameSlot::new(&context.layout, &workspace.id, &record.name).take(&record.id)?;
    hit("git.create.after-name")?;
    let folder = context.layout.worktree(&workspace.id, &record.id);
    let worktree = Worktree::new(&workspace.common_dir, &record.id, folder);
    let commit = new.start.commit();
    {
        let _shared = Lock::acquire(
            &context.layout.repository_lock(&workspace.id),
            &workspace.id,
        )?;
        if let Some(commit) = commit {
            Refs::new(repository, record.created_at).create(
                &record.branch_ref(),
                commit,
                "create head",
            )?;
        }
        hit("git.create.after-branch")?;
        worktree.register(&NewRecord {
            branch: &record.branch_ref(),
            commit,
            reason: &format!("{LOCK_REASON}{} ({})", record.id, record.name),
            at: record.created_at,
        })?;
    }
    hit("git.create.after-record")?;
    let mut opened = context.opener.open(&worktree.record)?;
    // The trees are read once for the checkout and once for the index.
    opened.object_cache_size_if_unset(TREES_KEPT);
    let opened_in = new.opened_in;
    let state = new.start.state(&opened)?;
    let files = populate(&opened, state.files, context.contents.of(&workspace.id))?;
    hit("git.create.after-checkout")?;
    let marks = marks(context, workspace, record)?;
    if state.index == state.files && state.manifest.is_empty() {
        index::write_as_is(&opened, files, state.files, &marks)?;
    } else {
        let steps = plan(&opened, state.files, state.index)?;
        let changes = steps.iter().map(|step| (step.path.as_bstr(), step.becomes));
        index::write_staged(&opened, files, &state, changes, &marks)?;
    }
    state.manifest.note(opened.git_dir())?;
    hit("git.create.after-index")?;
    let users = match &opened_in {
        Some(git_dir) => context.opener.open(git_dir)?,
        None => repository.clone(),
    };
    bring_ignored(context, workspace, &users, record, &opened)?;
    hit("git.create.after-ignored")?;
    record.save(&context.layout)?;
    hit("git.create.after-ready")?;
    Intent::clear(&context.layout, &record.id)
}

/// The worktree of the head that the one of `record` is forked from, if it is.
fn source(
    context: &Context,
    workspace: &WorkspaceRecord,
    record: &HeadRecord,
) -> Result<Option<Worktree>> {
    let Some(origin) = &record.origin else {
        return Ok(None);
    };
    let folder = context.layout.worktree(&workspace.id, &origin.head);
    let worktree = Worktree::new(&workspace.common_dir, &origin.head, folder);
    worktree.verify()?;
    Ok(Some(worktree))
}

/// What the index of the head that this one is forked from is told about how to look at files.
fn marks(
    context: &Context,
    workspace: &WorkspaceRecord,
    record: &HeadRecord,
) -> Result<index::Marks> {
    match source(context, workspace, record)? {
        Some(worktree) => index::marks_for_fork(&context.opener.open(&worktree.record)?),
        None => Ok(index::Marks::new()),
    }
}

/// Brings ignored files along from where the head was made: the user's own working tree, or the head it is forked from.
fn bring_ignored(
    context: &Context,
    workspace: &WorkspaceRecord,
    users: &gix::Repository,
    record: &HeadRecord,
    opened: &gix::Repository,
) -> Result<()> {
    let origin = source(context, workspace, record)?;
    let folder = match &origin {
        Some(worktree) => Some(worktree.folder.as_path()),
        None => users.workdir(),
    };
    let patterns = Patterns::read(folder, &record.include_ignored)?;
    if patterns.is_empty() {
        return Ok(());
    }
    let source = match &origin {
        Some(worktree) => context.opener.open(&worktree.record)?,
        None => users.clone(),
    };
    let report = ignored::bring(&source, opened, &patterns, context.ignored_limit)?;
    ignored::save(&context.layout, record, &report)
}
