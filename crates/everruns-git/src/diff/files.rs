//! The files that differ between two trees.

use everruns_core::workspace::{FileChange, FileDiff, WorkspaceDiff};
use gix::ObjectId;
use gix::bstr::ByteSlice as _;
use gix::objs::tree::EntryKind;

use super::changed::{Changed, Side, changed, content};
use super::{lines, text};
use crate::error::Result;
use crate::names::path_text;

/// How many files are told at once.
pub(super) const FILES: usize = 10_000;

/// How much of a difference is told.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    /// How many files are left out first.
    pub(super) skip: usize,
    /// How many files.
    pub(super) files: usize,
    /// How many bytes of content a file may have for its lines to be compared.
    pub(super) content: u64,
    /// How many lines in all hunks together.
    pub(super) lines: usize,
}

impl Bounds {
    /// The bounds of a page of a single file, which nobody else shares.
    pub(super) fn of_one() -> Self {
        Self {
            skip: 0,
            files: 1,
            content: 32 << 20,
            lines: 1_000_000,
        }
    }
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            skip: 0,
            files: FILES,
            content: 8 << 20,
            lines: 100_000,
        }
    }
}

/// How the tree `new` differs from the tree `old`, with renames found as Git finds them.
pub(super) fn compare(
    repository: &gix::Repository,
    old: ObjectId,
    new: ObjectId,
    bounds: Bounds,
) -> Result<WorkspaceDiff> {
    let changed = changed(repository, old, new)?;
    let mut diff = WorkspaceDiff {
        changed: !changed.is_empty(),
        ..WorkspaceDiff::default()
    };
    let told = bounds.skip.saturating_add(bounds.files);
    diff.next = (changed.len() > told).then_some(told);
    diff.truncated = diff.next.is_some();
    let mut lines_left = bounds.lines;
    for changed in changed.into_iter().skip(bounds.skip).take(bounds.files) {
        let mut file = describe(repository, changed, bounds.content)?;
        let lines: usize = file.hunks.iter().map(|hunk| hunk.lines.len()).sum();
        if lines > lines_left {
            // The counts still say how much there is.
            file.hunks.clear();
            file.omitted = true;
        } else {
            lines_left -= lines;
        }
        diff.truncated |= file.omitted;
        diff.files.push(file);
    }
    Ok(diff)
}

fn describe(
    repository: &gix::Repository,
    changed: Changed,
    content_limit: u64,
) -> Result<FileDiff> {
    let Changed {
        path,
        original,
        old,
        new,
    } = changed;
    let mut file = FileDiff {
        change: kind(original.is_some(), old, new),
        path: path_text(path.as_bstr()),
        original: original.map(|path| path_text(path.as_bstr())),
        old_mode: old.map(|side| u32::from(side.mode.value())),
        new_mode: new.map(|side| u32::from(side.mode.value())),
        binary: false,
        omitted: false,
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
        file.omitted = true;
        return Ok(file);
    };
    if text::is_binary(&before) || text::is_binary(&after) {
        file.binary = true;
        return Ok(file);
    }
    let lines = lines::compare(&before, &after);
    file.added = lines.added;
    file.removed = lines.removed;
    file.hunks = lines.places.iter().map(lines::Place::told).collect();
    Ok(file)
}

pub(super) fn kind(renamed: bool, old: Option<Side>, new: Option<Side>) -> FileChange {
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
