//! What a restore will do to the files, decided before it does anything.

use std::collections::BTreeSet;

use gix::ObjectId;
use gix::bstr::{BStr, BString, ByteSlice as _};
use gix::object::tree::diff::ChangeDetached;
use gix::objs::tree::EntryKind;
use rustix::fs::FileType;

use crate::error::{GitError, GitStep as _, Result};
use crate::files::Files;
use crate::names::path_text;

/// One path to be changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Step {
    /// The path.
    pub(crate) path: BString,
    /// What it becomes; `None` if it goes.
    pub(crate) becomes: Option<(EntryKind, ObjectId)>,
    /// Whether something is there now that the present state knows.
    existed: bool,
}

/// The paths that differ between the trees `from` and `to`, and what they become.
pub(crate) fn plan(
    repository: &gix::Repository,
    from: ObjectId,
    to: ObjectId,
) -> Result<Vec<Step>> {
    let step = "compare the two states";
    let from = repository.find_tree(from).git(step)?;
    let to = repository.find_tree(to).git(step)?;
    // No rename tracking: every path stands for itself.
    let options = gix::diff::Options::default();
    let changes = repository
        .diff_tree_to_tree(&from, &to, options)
        .git(step)?;
    let mut steps = Vec::with_capacity(changes.len());
    for change in changes {
        let (path, becomes, existed) = match change {
            ChangeDetached::Addition {
                location,
                entry_mode,
                id,
                ..
            } => (location, Some((entry_mode.kind(), id)), false),
            ChangeDetached::Deletion {
                location,
                entry_mode,
                ..
            } => {
                if entry_mode.is_tree() {
                    continue;
                }
                (location, None, true)
            }
            ChangeDetached::Modification {
                location,
                previous_entry_mode,
                entry_mode,
                id,
                ..
            } => {
                if previous_entry_mode.is_tree() && entry_mode.is_tree() {
                    continue;
                }
                (
                    location,
                    Some((entry_mode.kind(), id)),
                    !previous_entry_mode.is_tree(),
                )
            }
            ChangeDetached::Rewrite { .. } => continue,
        };
        if !matches!(becomes, Some((EntryKind::Tree, _))) {
            steps.push(Step {
                path,
                becomes,
                existed,
            });
        } else if existed {
            steps.push(Step {
                path,
                becomes: None,
                existed,
            });
        }
    }
    steps.sort_by(|left, right| left.path.cmp(&right.path));
    Ok(steps)
}

/// Fails if files that no state knows, ignored ones above all, are where `steps` would write.
pub(crate) fn check_way(files: &Files, steps: &[Step]) -> Result<()> {
    let leaving: BTreeSet<&BStr> = steps
        .iter()
        .filter(|step| step.becomes.is_none())
        .map(|step| step.path.as_bstr())
        .collect();
    let mut blocked = Vec::new();
    for step in steps
        .iter()
        .filter(|step| step.becomes.is_some() && !step.existed)
    {
        if !is_free(files, step.path.as_ref(), &leaving)? {
            blocked.push(path_text(step.path.as_ref()));
        }
    }
    if blocked.is_empty() {
        Ok(())
    } else {
        Err(GitError::InTheWay { paths: blocked })
    }
}

fn is_free(files: &Files, path: &BStr, leaving: &BTreeSet<&BStr>) -> Result<bool> {
    for at in path.find_iter(b"/") {
        let above = path[..at].as_bstr();
        if let Some(stat) = files.stat(above)?
            && FileType::from_raw_mode(stat.st_mode) != FileType::Directory
        {
            return Ok(leaving.contains(above));
        }
    }
    match files.stat(path)? {
        None => Ok(true),
        Some(stat) if FileType::from_raw_mode(stat.st_mode) == FileType::Directory => {
            will_be_empty(files, path, leaving)
        }
        Some(_) => Ok(leaving.contains(path)),
    }
}

/// Whether everything in the folder at `path` is about to go.
fn will_be_empty(files: &Files, path: &BStr, leaving: &BTreeSet<&BStr>) -> Result<bool> {
    for (name, is_folder) in files.list(path)? {
        let mut below = path.to_owned();
        below.push(b'/');
        below.extend_from_slice(&name);
        let goes = if is_folder {
            will_be_empty(files, below.as_ref(), leaving)?
        } else {
            leaving.contains(below.as_bstr())
        };
        if !goes {
            return Ok(false);
        }
    }
    Ok(true)
}
