//! The lines that differ between two contents.

use everruns_core::workspace::{DiffLine, DiffLineKind, Hunk};
use gix::diff::blob::sources::byte_lines;
use gix::diff::blob::{Algorithm, InternedInput, diff_with_slider_heuristics};

/// How many unchanged lines a hunk shows before and after its changes.
const CONTEXT: usize = 3;

/// The changed places, and how many lines were added and removed.
#[derive(Debug, Default)]
pub(super) struct Lines {
    pub(super) hunks: Vec<Hunk>,
    pub(super) added: u64,
    pub(super) removed: u64,
}

/// A changed place: lines `before.0..before.1` became `after.0..after.1`.
#[derive(Debug, Clone, Copy)]
struct Change {
    before: (usize, usize),
    after: (usize, usize),
}

/// Compares two texts by lines, as `git diff` does.
pub(super) fn compare(before: &[u8], after: &[u8]) -> Lines {
    let input = InternedInput::new(byte_lines(before), byte_lines(after));
    let diff = diff_with_slider_heuristics(Algorithm::Myers, &input);
    let (old, new) = (split(before), split(after));
    let changes: Vec<Change> = diff
        .hunks()
        .map(|hunk| Change {
            before: (hunk.before.start as usize, hunk.before.end as usize),
            after: (hunk.after.start as usize, hunk.after.end as usize),
        })
        .collect();
    Lines {
        hunks: group(&changes)
            .map(|changes| hunk(changes, &old, &new))
            .collect(),
        added: u64::from(diff.count_additions()),
        removed: u64::from(diff.count_removals()),
    }
}

/// The lines of a text, each with its line feed if it has one.
fn split(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|byte| *byte == b'\n').collect()
}

/// Changes so close that their context would overlap share a hunk.
fn group(changes: &[Change]) -> impl Iterator<Item = &[Change]> {
    changes.chunk_by(|left, right| right.before.0 - left.before.1 <= 2 * CONTEXT)
}

/// The hunk for `changes`, which are not empty.
fn hunk(changes: &[Change], old: &[&[u8]], new: &[&[u8]]) -> Hunk {
    let (first, last) = (changes[0], changes[changes.len() - 1]);
    let lead = CONTEXT.min(first.before.0);
    let trail = CONTEXT.min(old.len() - last.before.1);
    let old_range = (first.before.0 - lead, last.before.1 + trail);
    let new_range = (first.after.0 - lead, last.after.1 + trail);
    let mut lines = Vec::new();
    let mut at = old_range.0;
    for change in changes {
        lines.extend(
            old[at..change.before.0]
                .iter()
                .map(|text| line(DiffLineKind::Context, text)),
        );
        let removed = &old[change.before.0..change.before.1];
        lines.extend(removed.iter().map(|text| line(DiffLineKind::Removed, text)));
        let added = &new[change.after.0..change.after.1];
        lines.extend(added.iter().map(|text| line(DiffLineKind::Added, text)));
        at = change.before.1;
    }
    lines.extend(
        old[at..old_range.1]
            .iter()
            .map(|text| line(DiffLineKind::Context, text)),
    );
    Hunk {
        old_start: start(old_range),
        old_lines: (old_range.1 - old_range.0) as u64,
        new_start: start(new_range),
        new_lines: (new_range.1 - new_range.0) as u64,
        lines,
    }
}

/// The number of a range's first line; of an empty range, that of the line before it.
fn start(range: (usize, usize)) -> u64 {
    let first = if range.0 == range.1 {
        range.0
    } else {
        range.0 + 1
    };
    first as u64
}

fn line(kind: DiffLineKind, text: &[u8]) -> DiffLine {
    let bare = text.strip_suffix(b"\n");
    DiffLine {
        kind,
        text: String::from_utf8_lossy(bare.unwrap_or(text)).into_owned(),
        no_newline: bare.is_none(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distant_changes_are_hunks_of_their_own() {
        let old = (1..=30).map(|n| n.to_string() + "\n").collect::<String>();
        let new = old.replace("5\n", "five\n").replace("30\n", "30");
        let lines = compare(old.as_bytes(), new.as_bytes());
        // "5\n" also ends 15 and 25.
        assert_eq!((lines.added, lines.removed), (4, 4));
        assert_eq!(lines.hunks.len(), 3);
        assert!(lines.hunks[2].lines.iter().any(|line| line.no_newline));
    }

    #[test]
    fn a_new_text_starts_at_line_one() {
        let lines = compare(b"", b"a\nb\n");
        let hunk = &lines.hunks[0];
        assert_eq!(
            (
                hunk.old_start,
                hunk.old_lines,
                hunk.new_start,
                hunk.new_lines
            ),
            (0, 0, 1, 2)
        );
    }
}
