//! The files that differ between two trees.

use everruns_core::workspace::{FileChange, FileDiff, WorkspaceDiff};
use gix::ObjectId;
use gix::diff::Rewrites;
use gix::object::tree::diff::ChangeDetached;
use gix::objs::tree::{EntryKind, EntryMode};

use super::{lines, text};
use crate::error::{GitStep as _, Result};
use crate::names::path_text;

/// How much of a difference is told.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    /// How many files.
    pub(crate) files: usize,
    /// How many bytes of content a file may have for its lines to be compared.
    pub(crate) content: u64,
    /// How many lines in all hunks together.
    pub(crate) lines: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            files: 10_000,
            content: 8 << 20,
            lines: 100_000,
        }
    }
}

/// One side of a changed file.
#[derive(Debug, Clone, Copy)]
struct Side {
    mode: EntryMode,
    id: ObjectId,
}

impl Side {
    fn new(mode: EntryMode, id: ObjectId) -> Self {
        Self { mode, id }
    }
}

/// A changed file, before its lines are looked at.
struct Changed {
    path: String,
    original: Option<String>,
    old: Option<Side>,
    new: Option<Side>,
}

/// How the tree `new` differs from the tree `old`, with renames found as Git finds them.
pub(crate) fn compare(
    repository: &gix::Repository,
    old: ObjectId,
    new: ObjectId,
    bounds: Bounds,
) -> Result<WorkspaceDiff> {
    let mut changed = changed(repository, old, new)?;
    changed.sort_by(|left, right| left.path.cmp(&right.path));
    let mut diff = WorkspaceDiff {
        changed: !changed.is_empty(),
        ..WorkspaceDiff::default()
    };
    diff.truncated = changed.len() > bounds.files;
    let mut lines_left = bounds.lines;
    for changed in changed.into_iter().take(bounds.files) {
        let mut file = describe(repository, changed, bounds.content, &mut diff.truncated)?;
        let lines: usize = file.hunks.iter().map(|hunk| hunk.lines.len()).sum();
        if lines > lines_left {
            // The counts still say how much there is.
            file.hunks.clear();
            diff.truncated = true;
        } else {
            lines_left -= lines;
        }
        diff.files.push(file);
    }
    Ok(diff)
}

fn changed(repository: &gix::Repository, old: ObjectId, new: ObjectId) -> Result<Vec<Changed>> {
    let step = "compare the two states";
    let old = repository.find_tree(old).git(step)?;
    let new = repository.find_tree(new).git(step)?;
    let mut options = gix::diff::Options::default();
    options.track_rewrites(Some(Rewrites::default()));
    let changes = repository
        .diff_tree_to_tree(&old, &new, options)
        .git(step)?;
    Ok(changes.into_iter().filter_map(sides).collect())
}

/// The two sides of a change; `None` for folders, which are told by their files.
fn sides(change: ChangeDetached) -> Option<Changed> {
    let (location, original, old, new) = match change {
        ChangeDetached::Addition {
            location,
            entry_mode,
            id,
            ..
        } => (location, None, None, Some(Side::new(entry_mode, id))),
        ChangeDetached::Deletion {
            location,
            entry_mode,
            id,
            ..
        } => (location, None, Some(Side::new(entry_mode, id)), None),
        ChangeDetached::Modification {
            location,
            previous_entry_mode,
            previous_id,
            entry_mode,
            id,
        } => {
            let old = Side::new(previous_entry_mode, previous_id);
            (location, None, Some(old), Some(Side::new(entry_mode, id)))
        }
        ChangeDetached::Rewrite {
            source_location,
            source_entry_mode,
            source_id,
            location,
            entry_mode,
            id,
            ..
        } => {
            let old = Side::new(source_entry_mode, source_id);
            (
                location,
                Some(source_location),
                Some(old),
                Some(Side::new(entry_mode, id)),
            )
        }
    };
    let file = |side: &Side| !side.mode.is_tree();
    let (old, new) = (old.filter(file), new.filter(file));
    if old.is_none() && new.is_none() {
        return None;
    }
    Some(Changed {
        path: path_text(location.as_ref()),
        original: original.map(|path| path_text(path.as_ref())),
        old,
        new,
    })
}

fn describe(
    repository: &gix::Repository,
    changed: Changed,
    content_limit: u64,
    truncated: &mut bool,
) -> Result<FileDiff> {
    let Changed {
        path,
        original,
        old,
        new,
    } = changed;
    let mut file = FileDiff {
        change: kind(original.is_some(), old, new),
        path,
        original,
        old_mode: old.map(|side| u32::from(side.mode.value())),
        new_mode: new.map(|side| u32::from(side.mode.value())),
        binary: false,
        added: 0,
        removed: 0,
        hunks: Vec::new(),
    };
    if old.map(|side| side.id) == new.map(|side| side.id) {
        return Ok(file);
    }
    let before = content(repository, old, content_limit)?;
    let after = content(repository, new, content_limit)?;
    let (Some(before), Some(after)) = (before, after) else {
        *truncated = true;
        file.binary = true;
        return Ok(file);
    };
    if text::is_binary(&before) || text::is_binary(&after) {
        file.binary = true;
        return Ok(file);
    }
    let lines = lines::compare(&before, &after);
    file.added = lines.added;
    file.removed = lines.removed;
    file.hunks = lines.hunks;
    Ok(file)
}

fn kind(renamed: bool, old: Option<Side>, new: Option<Side>) -> FileChange {
    match (old, new) {
        _ if renamed => FileChange::Renamed,
        (None, _) => FileChange::Added,
        (_, None) => FileChange::Deleted,
        (Some(old), Some(new)) if type_of(old) != type_of(new) => FileChange::TypeChanged,
        _ => FileChange::Modified,
    }
}

/// The kind of entry; whether a file can be executed makes no other kind.
fn type_of(side: Side) -> EntryKind {
    match side.mode.kind() {
        EntryKind::BlobExecutable => EntryKind::Blob,
        kind => kind,
    }
}

/// What is compared line by line; `None` if it is too large.
fn content(
    repository: &gix::Repository,
    side: Option<Side>,
    limit: u64,
) -> Result<Option<Vec<u8>>> {
    let Some(side) = side else {
        return Ok(Some(Vec::new()));
    };
    if side.mode.is_commit() {
        // As Git shows the commit of a nested repository.
        return Ok(Some(
            format!("Subproject commit {}\n", side.id).into_bytes(),
        ));
    }
    let header = repository
        .find_header(side.id)
        .git("look at a file's content")?;
    if header.size() > limit {
        return Ok(None);
    }
    let mut object = repository
        .find_object(side.id)
        .git("read a file's content")?;
    Ok(Some(std::mem::take(&mut object.data)))
}
