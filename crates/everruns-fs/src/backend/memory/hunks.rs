use std::time::Instant;

use everruns_core::workspace::{DiffLine, DiffLineKind, Hunk};
use similar::{Algorithm, DiffOp, capture_diff_slices_deadline, group_diff_ops};

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
    let (old, new) = (split(old), split(new));
    let ops = capture_diff_slices_deadline(Algorithm::Histogram, &old, &new, deadline);
    let mut lines = Lines::default();
    for group in group_diff_ops(ops, CONTEXT) {
        let hunk = hunk(&group, &old, &new);
        let count = |kind| hunk.lines.iter().filter(|line| line.kind == kind).count() as u64;
        lines.added += count(DiffLineKind::Added);
        lines.removed += count(DiffLineKind::Removed);
        lines.hunks.push(hunk);
    }
    lines
}

/// Lines with their line feeds.
fn split(bytes: &[u8]) -> Vec<&[u8]> {
    bytes.split_inclusive(|&byte| byte == b'\n').collect()
}

fn hunk(ops: &[DiffOp], old: &[&[u8]], new: &[&[u8]]) -> Hunk {
    let mut lines = Vec::new();
    for op in ops {
        let (old_range, new_range) = (op.old_range(), op.new_range());
        if let DiffOp::Equal { .. } = op {
            lines.extend(old_range.map(|at| line(DiffLineKind::Context, old[at])));
        } else {
            lines.extend(old_range.map(|at| line(DiffLineKind::Removed, old[at])));
            lines.extend(new_range.map(|at| line(DiffLineKind::Added, new[at])));
        }
    }
    let start = |first: Option<usize>, count: usize| {
        // Git counts from 1, and names the line before when there are none.
        first.map_or(0, |first| first as u64 + u64::from(count > 0))
    };
    let old_lines = lines
        .iter()
        .filter(|line| line.kind != DiffLineKind::Added)
        .count();
    let new_lines = lines
        .iter()
        .filter(|line| line.kind != DiffLineKind::Removed)
        .count();
    Hunk {
        old_start: start(ops.first().map(|op| op.old_range().start), old_lines),
        old_lines: old_lines as u64,
        new_start: start(ops.first().map(|op| op.new_range().start), new_lines),
        new_lines: new_lines as u64,
        lines,
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
