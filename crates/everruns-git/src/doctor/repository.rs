//! Branches and references of ours in a repository that belong to no head. None of them is ever removed: they hold work,
//! and another state folder may know their heads.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::context::{Examination, shown};
use super::state::list;
use crate::error::{GitStep as _, Result};
use crate::head::is_head;
use crate::repository::{dead_locks, is_of_dead, remove_dead_locks};
use crate::state::{HeadRecord, Intent, WorkspaceRecord};

/// Whether the repository is where it was; told if not.
pub(super) fn is_there(examination: &mut Examination<'_>, workspace: &WorkspaceRecord) -> bool {
    let there = workspace.common_dir.join("HEAD").is_file();
    if !there {
        let detail =
            "the repository is not there any more; the heads of its workspace can't be used";
        examination.tell("repository-missing", shown(&workspace.common_dir), detail);
    }
    there
}

/// Branches below `everruns/` of no head that is known here.
pub(super) fn branches(
    examination: &mut Examination<'_>,
    workspace: &WorkspaceRecord,
) -> Result<()> {
    let found = names(examination, workspace, "refs/heads/everruns/")?;
    let known = known(examination, workspace, HeadRecord::branch_ref)?;
    for name in found.difference(&known) {
        let branch = name.trim_start_matches("refs/heads/");
        examination.tell(
            "branch-without-head",
            branch,
            "no head here has this branch; another state folder may, and it may hold work",
        );
    }
    Ok(())
}

/// Checkpoints of no head that is known here.
pub(super) fn checkpoints(
    examination: &mut Examination<'_>,
    workspace: &WorkspaceRecord,
) -> Result<()> {
    const PREFIX: &str = "refs/everruns/heads/";
    let found: BTreeSet<String> = names(examination, workspace, PREFIX)?
        .iter()
        .filter_map(|name| Some(name.strip_prefix(PREFIX)?.split_once('/')?.0.to_owned()))
        .collect();
    let known = known(examination, workspace, |record| record.id.clone())?;
    for id in found.difference(&known) {
        examination.tell(
            "checkpoints-without-head",
            format!("{PREFIX}{id}"),
            "no head here has these checkpoints; another state folder may, and they hold work",
        );
    }
    Ok(())
}

/// Lock files of references. Those that killed processes of ours left say so themselves; nothing proves it of others.
pub(super) fn reference_locks(
    examination: &mut Examination<'_>,
    workspace: &WorkspaceRecord,
) -> Result<()> {
    let common = &workspace.common_dir;
    let mut told = BTreeSet::new();
    for left in dead_locks(common)? {
        examination.offer(
            "stale-reference-lock",
            shown(&left.lock),
            "the process that took this lock, or was about to, is no more",
            || remove_dead_locks(common),
        );
        told.insert(left.lock);
    }
    let mut waiting = vec![common.join("refs")];
    let mut locks = vec![common.join("packed-refs.lock")];
    while let Some(folder) = waiting.pop() {
        for path in list(&folder)? {
            if is_folder(&path) {
                waiting.push(path);
            } else if path.extension().is_some_and(|end| end == "lock") && !is_note(common, &path) {
                locks.push(path);
            }
        }
    }
    for lock in locks {
        if told.contains(&lock) || is_of_dead(&lock)?.is_none() {
            continue;
        }
        examination.tell(
            "reference-lock",
            shown(&lock),
            "a reference is being changed, or another program was killed while it did that; if none is running, delete \
             this file",
        );
    }
    Ok(())
}

/// Whether the file is one of those that say who takes a lock, and not a lock itself.
fn is_note(common: &Path, path: &Path) -> bool {
    path.parent() == Some(&common.join("refs/everruns"))
}

fn is_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|meta| meta.is_dir())
}

/// The names of the references below `prefix`.
fn names(
    examination: &Examination<'_>,
    workspace: &WorkspaceRecord,
    prefix: &str,
) -> Result<BTreeSet<String>> {
    let step = "list the references";
    let repository = examination.context.repository(workspace)?;
    let platform = repository.references().git(step)?;
    let mut names = BTreeSet::new();
    for reference in platform.prefixed(prefix).git(step)? {
        names.insert(reference.git(step)?.name().as_bstr().to_string());
    }
    Ok(names)
}

/// What `of` says of each head, whatever its state, and of each that an operation is about to make.
fn known(
    examination: &Examination<'_>,
    workspace: &WorkspaceRecord,
    of: impl Fn(&HeadRecord) -> String,
) -> Result<BTreeSet<String>> {
    let layout = examination.layout();
    let mut known = BTreeSet::new();
    for id in Intent::heads(layout)? {
        match Intent::load(layout, &id) {
            // Of a head that has a record of its own, that one says as much.
            Err(_) if is_head(layout, &workspace.id, &id)? => {}
            intent => known.extend(intent?.map(|intent| of(&intent.head))),
        }
    }
    known.extend(HeadRecord::all(layout, &workspace.id)?.iter().map(of));
    Ok(known)
}
