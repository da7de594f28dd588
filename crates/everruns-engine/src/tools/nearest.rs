use std::fmt::Write as _;

use similar::TextDiff;

use super::text::Text;

/// Lines of a file that are looked at.
const LINES: usize = 20_000;
/// Lines that are compared closely: those that have the most bytes in common, whatever their order.
const COMPARED: usize = 40;
/// Places that are shown.
const SHOWN: usize = 3;
/// How alike a line must be to be worth showing, of 1.
const ALIKE: f32 = 0.6;
/// Longer lines are not compared.
const LINE_BYTES: usize = 400;

/// The lines of a file that are most like the first line of `old`, for a model that remembered it wrongly.
pub(super) fn describe(text: &Text, old: &str) -> String {
    let Some(wanted) = old.lines().map(str::trim).find(|line| !line.is_empty()) else {
        return String::new();
    };
    if wanted.len() > LINE_BYTES {
        return String::new();
    }
    let bytes = count(wanted.as_bytes());
    let mut candidates: Vec<(usize, usize, &[u8])> = text
        .lines()
        .take(LINES)
        .enumerate()
        .filter(|(_, line)| line.len() <= LINE_BYTES)
        .map(|(index, line)| (common(&bytes, &count(line.trim_ascii())), index + 1, line))
        .collect();
    candidates.sort_by_key(|&(common, number, _)| (std::cmp::Reverse(common), number));
    let mut found: Vec<(f32, usize, String)> = candidates
        .into_iter()
        .take(COMPARED)
        .filter_map(|(_, number, line)| {
            let line = String::from_utf8_lossy(line);
            let alike = TextDiff::from_chars(wanted, line.trim()).ratio();
            (alike >= ALIKE).then(|| (alike, number, line.into_owned()))
        })
        .collect();
    found.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
    if found.is_empty() {
        return " No line is much like it: read the file again.".to_owned();
    }
    let mut described = String::from(" The lines most like it are:");
    for (_, number, line) in found.iter().take(SHOWN) {
        // Writing to a text cannot fail.
        let _infallible = write!(described, "\n{number:>6}\t{line}");
    }
    described
}

/// How often each byte is in a line.
fn count(line: &[u8]) -> [u16; 256] {
    let mut counts = [0; 256];
    for &byte in line {
        counts[usize::from(byte)] += 1;
    }
    counts
}

/// How many bytes two lines have in common, less those that only one has.
fn common(one: &[u16; 256], other: &[u16; 256]) -> usize {
    let pairs = one.iter().zip(other);
    let shared: usize = pairs.map(|(&a, &b)| usize::from(a.min(b))).sum();
    let all = |counts: &[u16; 256]| counts.iter().copied().map(usize::from).sum::<usize>();
    (4 * shared).saturating_sub(all(one) + all(other))
}
