use std::time::Instant;

use everruns_core::workspace::{DiffLine, DiffLineKind, Hunk};
use similar::{Algorithm, DiffOp, capture_diff_slices_deadline, group_diff_ops};

use crate::patch::PatchPlace;

/// How many unchanged lines are shown around a change.
const CONTEXT: usize = 3;
/// How many bytes are looked at to tell whether a file is binary, as Git does.
const PROBE: usize = 8_000;

/// How the lines of two files differ.
#[derive(Debug, Default)]
pub(super) struct Lines {
    pub(super) added: u64,
    pub(super) removed: u64,
    pub(super) hunks: Vec<Hunk>,
}

pub(super) fn is_binary(bytes: &[u8]) -> bool {
    bytes.iter().take(PROBE).any(|&byte| byte == 0)
}

/// Compares two files. After `deadline` it takes a coarser difference than there may be.
pub(super) fn compare(old: &[u8], new: &[u8], deadline: Option<Instant>) -> Lines {
    let mut lines = Lines::default();
    for place in places(old, new, deadline) {
        let count = |kind| place.lines.iter().filter(|line| line.0 == kind).count() as u64;
        lines.added += count(DiffLineKind::Added);
        lines.removed += count(DiffLineKind::Removed);
        lines.hunks.push(hunk(&place));
    }
    lines
}

/// The places where two files differ, as [`compare`] finds them.
pub(super) fn places<'a>(
    old: &'a [u8],
    new: &'a [u8],
    deadline: Option<Instant>,
) -> Vec<PatchPlace<'a>> {
    let (old, new) = (split(old), split(new));
    let ops = capture_diff_slices_deadline(Algorithm::Histogram, &old, &new, deadline);
    let groups = group_diff_ops(ops, CONTEXT);
    groups
        .iter()
        .map(|group| place(group, &old, &new))
        .collect()
}

/// Lines with their line feeds.
fn split(bytes: &[u8]) -> Vec<&[u8]> {
    bytes.split_inclusive(|&byte| byte == b'\n').collect()
}

fn place<'a>(ops: &[DiffOp], old: &[&'a [u8]], new: &[&'a [u8]]) -> PatchPlace<'a> {
    let mut lines = Vec::new();
    for op in ops {
        let (old_range, new_range) = (op.old_range(), op.new_range());
        if let DiffOp::Equal { .. } = op {
            lines.extend(old_range.map(|at| (DiffLineKind::Context, old[at])));
        } else {
            lines.extend(old_range.map(|at| (DiffLineKind::Removed, old[at])));
            lines.extend(new_range.map(|at| (DiffLineKind::Added, new[at])));
        }
    }
    let start = |first: Option<usize>| first.unwrap_or_default();
    let old_start = start(ops.first().map(|op| op.old_range().start));
    let new_start = start(ops.first().map(|op| op.new_range().start));
    let count = |other| lines.iter().filter(|line| line.0 != other).count();
    PatchPlace {
        old: old_start..old_start + count(DiffLineKind::Added),
        new: new_start..new_start + count(DiffLineKind::Removed),
        lines,
    }
}

fn hunk(place: &PatchPlace<'_>) -> Hunk {
    // Git counts from 1, and names the line before when there are none.
    let start = |range: &std::ops::Range<usize>| range.start as u64 + u64::from(!range.is_empty());
    Hunk {
        old_start: start(&place.old),
        old_lines: place.old.len() as u64,
        new_start: start(&place.new),
        new_lines: place.new.len() as u64,
        lines: place
            .lines
            .iter()
            .map(|(kind, bytes)| line(*kind, bytes))
            .collect(),
    }
}

fn line(kind: DiffLineKind, bytes: &[u8]) -> DiffLine {
    let text = bytes.strip_suffix(b"\n");
    DiffLine {
        kind,
        text: String::from_utf8_lossy(text.unwrap_or(bytes)).into_owned(),
        no_newline: text.is_none(),
    }
}
