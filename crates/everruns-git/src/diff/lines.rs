//! The lines that differ between two contents.

use everruns_core::workspace::{DiffLine, DiffLineKind, Hunk};
use gix::diff::blob::sources::byte_lines;
use gix::diff::blob::{Algorithm, InternedInput, diff_with_slider_heuristics};

/// How many unchanged lines a hunk shows before and after its changes.
const CONTEXT: usize = 3;

/// The changed places, and how many lines were added and removed.
#[derive(Debug, Default)]
pub(super) struct Lines<'a> {
    pub(super) places: Vec<Place<'a>>,
    pub(super) added: u64,
    pub(super) removed: u64,
}

/// One changed place with its context. Ranges are of lines counted from 0.
#[derive(Debug)]
pub(super) struct Place<'a> {
    pub(super) old: (usize, usize),
    pub(super) new: (usize, usize),
    /// The lines, each with its line feed if it has one.
    pub(super) lines: Vec<(DiffLineKind, &'a [u8])>,
}

/// A change: lines `before.0..before.1` became `after.0..after.1`.
#[derive(Debug, Clone, Copy)]
struct Change {
    before: (usize, usize),
    after: (usize, usize),
}

/// Compares two texts by lines, as `git diff` does.
pub(super) fn compare<'a>(before: &'a [u8], after: &'a [u8]) -> Lines<'a> {
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
        places: group(&changes)
            .map(|changes| place(changes, &old, &new))
            .collect(),
        added: u64::from(diff.count_additions()),
        removed: u64::from(diff.count_removals()),
    }
}

/// The lines of a text, each with its line feed if it has one.
fn split(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|byte| *byte == b'\n').collect()
}

/// Changes so close that their context would overlap share a place.
fn group(changes: &[Change]) -> impl Iterator<Item = &[Change]> {
    changes.chunk_by(|left, right| right.before.0 - left.before.1 <= 2 * CONTEXT)
}

/// The place of `changes`, which are not empty.
fn place<'a>(changes: &[Change], old: &[&'a [u8]], new: &[&'a [u8]]) -> Place<'a> {
    let (first, last) = (changes[0], changes[changes.len() - 1]);
    let lead = CONTEXT.min(first.before.0);
    let trail = CONTEXT.min(old.len() - last.before.1);
    let old_range = (first.before.0 - lead, last.before.1 + trail);
    let mut lines = Vec::new();
    let mut add = |kind, texts: &[&'a [u8]]| {
        lines.extend(texts.iter().map(|text| (kind, *text)));
    };
    let mut at = old_range.0;
    for change in changes {
        add(DiffLineKind::Context, &old[at..change.before.0]);
        add(
            DiffLineKind::Removed,
            &old[change.before.0..change.before.1],
        );
        add(DiffLineKind::Added, &new[change.after.0..change.after.1]);
        at = change.before.1;
    }
    add(DiffLineKind::Context, &old[at..old_range.1]);
    Place {
        old: old_range,
        new: (first.after.0 - lead, last.after.1 + trail),
        lines,
    }
}

/// The number of a range's first line; of an empty range, that of the line before it.
pub(super) fn start(range: (usize, usize)) -> usize {
    if range.0 == range.1 {
        range.0
    } else {
        range.0 + 1
    }
}

impl Place<'_> {
    /// The place as the core tells it.
    pub(super) fn told(&self) -> Hunk {
        let lines = self.lines.iter();
        Hunk {
            old_start: start(self.old) as u64,
            old_lines: (self.old.1 - self.old.0) as u64,
            new_start: start(self.new) as u64,
            new_lines: (self.new.1 - self.new.0) as u64,
            lines: lines.map(|(kind, text)| line(*kind, text)).collect(),
        }
    }
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
    fn distant_changes_are_places_of_their_own() {
        let old = (1..=30).map(|n| n.to_string() + "\n").collect::<String>();
        let new = old.replace("5\n", "five\n").replace("30\n", "30");
        let lines = compare(old.as_bytes(), new.as_bytes());
        // "5\n" also ends 15 and 25.
        assert_eq!((lines.added, lines.removed), (4, 4));
        assert_eq!(lines.places.len(), 3);
        let last = lines.places[2].told();
        assert!(last.lines.iter().any(|line| line.no_newline));
    }

    #[test]
    fn a_new_text_starts_at_line_one() {
        let lines = compare(b"", b"a\nb\n");
        let hunk = lines.places[0].told();
        let found = (
            hunk.old_start,
            hunk.old_lines,
            hunk.new_start,
            hunk.new_lines,
        );
        assert_eq!(found, (0, 0, 1, 2));
    }
}
