use std::fmt::Write as _;

use similar::TextDiff;

use super::text::Text;

/// Lines of a file that are compared; a longer file is compared in its first part only.
const COMPARED_LINES: usize = 5_000;
/// Places that are shown.
const SHOWN: usize = 3;
/// How alike a line must be to be worth showing, of 1.
const ALIKE: f32 = 0.6;
/// Longer lines are not compared.
const COMPARED_BYTES: usize = 400;

/// The lines of a file that are most like the first line of `old`, for a model that remembered it wrongly.
pub(super) fn describe(text: &Text, old: &str) -> String {
    let Some(wanted) = old.lines().map(str::trim).find(|line| !line.is_empty()) else {
        return String::new();
    };
    if wanted.len() > COMPARED_BYTES {
        return String::new();
    }
    let mut found: Vec<(f32, usize, String)> = text
        .lines()
        .take(COMPARED_LINES)
        .enumerate()
        .filter(|(_, line)| line.len() <= COMPARED_BYTES)
        .filter_map(|(index, line)| {
            let line = String::from_utf8_lossy(line);
            let alike = alike(wanted, line.trim());
            (alike >= ALIKE).then(|| (alike, index + 1, line.into_owned()))
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

/// How alike two lines are, from 0 to 1. Lines of very different length are not looked at closely.
fn alike(one: &str, other: &str) -> f32 {
    if one == other {
        return 1.0;
    }
    let (short, long) = (one.len().min(other.len()), one.len().max(other.len()));
    if short * 3 < long {
        return 0.0;
    }
    TextDiff::from_chars(one, other).ratio()
}
