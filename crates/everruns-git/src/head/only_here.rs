//! What only a worktree's own record leads to: references of that worktree alone, and the notes of Git's operations.
//!
//! An autostash is such a commit: Git notes it in a file until the merge or rebase is over, and no reference has it.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use gix::ObjectId;
use gix::bstr::ByteSlice as _;
use gix::objs::Kind;
use gix::refs::FullName;
use gix::revision::walk::Sorting;
use gix::traverse::commit::simple::CommitTimeOrder;

use super::handle::Handle;
use crate::error::{GitStep as _, IoStep as _, Result};
use crate::flush::flush_reference;
use crate::repository::Refs;
use crate::state::durable;

/// Where Git's operations note commits. `ORIG_HEAD` is none of them: Git itself lets go of what only that names.
const NOTES: [&str; 11] = [
    "HEAD",
    "MERGE_AUTOSTASH",
    "MERGE_HEAD",
    "CHERRY_PICK_HEAD",
    "REVERT_HEAD",
    "REBASE_HEAD",
    "BISECT_HEAD",
    "rebase-apply/autostash",
    "rebase-apply/orig-head",
    "rebase-merge/autostash",
    "rebase-merge/orig-head",
];

/// How deep folders of references are looked into.
const DEEPEST: usize = 32;

/// Something that a worktree's record names.
struct Named {
    /// By what, below the record.
    by: String,
    id: ObjectId,
}

/// What the names of the references start with under which this is kept for `head`.
fn prefix(head: &str) -> String {
    format!("refs/everruns/heads/{head}/kept/")
}

/// The references that keep such commits of `head`, in the order of their names.
pub(super) fn kept(repository: &gix::Repository, head: &str) -> Result<Vec<String>> {
    let step = "list what was kept";
    let platform = repository.references().git(step)?;
    let mut found = Vec::new();
    for reference in platform.prefixed(prefix(head).as_str()).git(step)? {
        found.push(reference.git(step)?.name().as_bstr().to_string());
    }
    found.sort_unstable();
    Ok(found)
}

/// Puts under a reference whatever the record of the head's worktree alone leads to.
///
/// It is the content that gives the reference its name, so doing this again changes nothing.
pub(super) fn keep_all(handle: &Handle) -> Result<()> {
    let mut named = named_by(&handle.worktree().record)?;
    if named.is_empty() {
        return Ok(());
    }
    let repository = handle.context.repository(&handle.workspace)?;
    // What isn't there can't be kept.
    named.retain(|named| repository.has_object(named.id));
    let mut only_here: HashSet<ObjectId> = named.iter().map(|named| named.id).collect();
    take_reachable(&repository, &mut only_here)?;
    named.retain(|named| only_here.remove(&named.id));
    if named.is_empty() {
        return Ok(());
    }
    handle.context.flushed.flush(&repository)?;
    let refs = Refs::new(&repository, handle.context.now());
    for Named { by, id } in named {
        let prefix = prefix(&handle.record.id);
        let mut name = format!("{prefix}{by}-{}", id.to_hex_with_len(12));
        if FullName::try_from(name.as_str()).is_err() {
            name = format!("{prefix}{id}");
        }
        if refs.target(&name)? != Some(id) {
            refs.create(&name, id, "keep what only the worktree led to")?;
            flush_reference(repository.common_dir(), &name)?;
        }
    }
    Ok(())
}

/// Everything that the worktree's `record` names.
fn named_by(record: &Path) -> Result<Vec<Named>> {
    let mut found = Vec::new();
    for note in NOTES {
        found.extend(noted(record, note)?);
    }
    references_below(record, "refs", 0, &mut found)?;
    Ok(found)
}

/// What the file `by` of the worktree's `record` names, if it names something directly.
fn noted(record: &Path, by: &str) -> Result<Option<Named>> {
    let path = record.join(by);
    if !fs::symlink_metadata(&path).is_ok_and(|found| found.is_file()) {
        return Ok(None);
    }
    let content = durable::read(&path)?.unwrap_or_default();
    let line = content.lines().next().unwrap_or_default();
    Ok(ObjectId::from_hex(line.trim()).ok().map(|id| Named {
        by: by.to_owned(),
        id,
    }))
}

/// The references of a worktree alone are never packed, so the files in the folder `at` are all of them.
fn references_below(record: &Path, at: &str, depth: usize, found: &mut Vec<Named>) -> Result<()> {
    let folder = record.join(at);
    let entries = match fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(failure) if failure.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(failure) => return Err(failure).step("list", &folder),
    };
    for entry in entries {
        let entry = entry.step("list", &folder)?;
        let kind = entry.file_type().step("look at", &entry.path())?;
        let name = entry.file_name();
        let below = format!("{at}/{}", name.to_string_lossy());
        if kind.is_dir() && depth < DEEPEST {
            references_below(record, &below, depth + 1, found)?;
        } else if kind.is_file() {
            found.extend(noted(record, &below)?);
        }
    }
    Ok(())
}

/// Takes from `wanted` what the references of `repository`, and its own `HEAD`, lead to.
fn take_reachable(repository: &gix::Repository, wanted: &mut HashSet<ObjectId>) -> Result<()> {
    let step = "look for what other references lead to";
    let mut tips = Vec::new();
    for reference in repository.references().git(step)?.all().git(step)? {
        // What can't be read leads to nothing.
        let Ok(mut reference) = reference else {
            continue;
        };
        if let Some(id) = reference.try_id() {
            wanted.remove(&id.detach());
        }
        if let Ok(tip) = reference.peel_to_id() {
            tips.push(tip.detach());
        }
    }
    tips.extend(repository.head_id().ok().map(gix::Id::detach));
    tips.sort_unstable();
    tips.dedup();
    tips.retain(|tip| is_commit(repository, *tip));
    // No commit is older than what it builds on, unless a clock went wrong: then something is kept twice.
    let times = wanted.iter().filter_map(|id| {
        let commit = repository.find_commit(*id).ok()?;
        commit.time().ok().map(|time| time.seconds)
    });
    let (Some(oldest), false) = (times.min(), tips.is_empty()) else {
        return Ok(());
    };
    let order = CommitTimeOrder::NewestFirst;
    let sorting = Sorting::ByCommitTimeCutoff {
        order,
        seconds: oldest,
    };
    let walk = repository.rev_walk(tips).sorting(sorting);
    let Ok(commits) = walk.all() else {
        return Ok(());
    };
    for commit in commits {
        // A history that is not whole proves nothing more.
        let Ok(commit) = commit else { break };
        wanted.remove(&commit.id);
        if wanted.is_empty() {
            break;
        }
    }
    Ok(())
}

fn is_commit(repository: &gix::Repository, id: ObjectId) -> bool {
    repository
        .find_header(id)
        .is_ok_and(|header| header.kind() == Kind::Commit)
}
