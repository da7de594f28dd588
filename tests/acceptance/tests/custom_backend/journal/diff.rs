//! How two trees differ.

use std::collections::BTreeSet;
use std::io;

use everruns_core::workspace::{
    DiffLine, DiffLineKind, EntryState, FileChange, FileDiff, Hunk, StatusEntry, WorkspaceDiff,
};
use similar::{ChangeTag, TextDiff};

use super::journal_file::JournalFile;
use super::tree::{Entry, Tree};

/// The files that differ: path, and content before and now.
fn differing<'a>(
    old: &'a Tree,
    new: &'a Tree,
) -> Vec<(&'a str, Option<&'a Entry>, Option<&'a Entry>)> {
    let paths: BTreeSet<&str> = old
        .0
        .keys()
        .chain(new.0.keys())
        .map(String::as_str)
        .collect();
    let file =
        |tree: &'a Tree, path: &str| tree.0.get(path).filter(|entry| **entry != Entry::Folder);
    let pairs = paths
        .into_iter()
        .map(|path| (path, file(old, path), file(new, path)));
    pairs
        .filter(|(_, old, new)| content(*old) != content(*new))
        .collect()
}

fn content(entry: Option<&Entry>) -> Option<everruns_core::file_system::ContentVersion> {
    match entry {
        Some(Entry::File { version, .. }) => Some(*version),
        _ => None,
    }
}

/// The paths of files that differ.
pub(crate) fn changed_paths(old: &Tree, new: &Tree) -> Vec<String> {
    differing(old, new)
        .into_iter()
        .map(|(path, ..)| path.to_owned())
        .collect()
}

/// The entries of a status.
pub(crate) fn status(base: &Tree, now: &Tree) -> Vec<StatusEntry> {
    let entry = |(path, old, new): (&str, Option<&Entry>, Option<&Entry>)| StatusEntry {
        path: path.to_owned(),
        staged: EntryState::Unmodified,
        unstaged: match (old, new) {
            (None, _) => EntryState::Untracked,
            (_, None) => EntryState::Deleted,
            _ => EntryState::Modified,
        },
        original: None,
    };
    differing(base, now).into_iter().map(entry).collect()
}

/// The whole difference.
pub(crate) fn diff(journal: &JournalFile, old: &Tree, new: &Tree) -> io::Result<WorkspaceDiff> {
    let mut files = Vec::new();
    for (path, old, new) in differing(old, new) {
        let load = |entry: Option<&Entry>| match content(entry) {
            Some(version) => journal.content(version).map(|bytes| bytes.to_vec()),
            None => Ok(Vec::new()),
        };
        files.push(file_diff(
            path,
            old.is_some(),
            new.is_some(),
            &load(old)?,
            &load(new)?,
        ));
    }
    Ok(WorkspaceDiff {
        changed: !files.is_empty(),
        files,
        truncated: false,
        next: None,
    })
}

fn file_diff(path: &str, was: bool, is: bool, before: &[u8], after: &[u8]) -> FileDiff {
    let binary = before.contains(&0) || after.contains(&0);
    let (before, after) = (
        String::from_utf8_lossy(before),
        String::from_utf8_lossy(after),
    );
    let hunks = if binary {
        Vec::new()
    } else {
        hunks(&before, &after)
    };
    let count = |kind| {
        let lines = hunks.iter().flat_map(|hunk| &hunk.lines);
        lines.filter(|line| line.kind == kind).count() as u64
    };
    FileDiff {
        path: path.to_owned(),
        original: None,
        change: match (was, is) {
            (false, _) => FileChange::Added,
            (_, false) => FileChange::Deleted,
            _ => FileChange::Modified,
        },
        old_mode: was.then_some(0o100_644),
        new_mode: is.then_some(0o100_644),
        binary,
        omitted: false,
        added: count(DiffLineKind::Added),
        removed: count(DiffLineKind::Removed),
        hunks,
    }
}

fn hunks(before: &str, after: &str) -> Vec<Hunk> {
    let diff = TextDiff::from_lines(before, after);
    let start = |range: &std::ops::Range<usize>| range.start as u64 + u64::from(!range.is_empty());
    let mut hunks = Vec::new();
    for group in diff.grouped_ops(3) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else {
            continue;
        };
        let old = first.old_range().start..last.old_range().end;
        let new = first.new_range().start..last.new_range().end;
        let lines = group
            .iter()
            .flat_map(|op| diff.iter_changes(op))
            .map(|change| DiffLine {
                kind: match change.tag() {
                    ChangeTag::Equal => DiffLineKind::Context,
                    ChangeTag::Delete => DiffLineKind::Removed,
                    ChangeTag::Insert => DiffLineKind::Added,
                },
                text: change.value().trim_end_matches('\n').to_owned(),
                no_newline: change.missing_newline(),
            });
        hunks.push(Hunk {
            old_start: start(&old),
            old_lines: old.len() as u64,
            new_start: start(&new),
            new_lines: new.len() as u64,
            lines: lines.collect(),
        });
    }
    hunks
}
