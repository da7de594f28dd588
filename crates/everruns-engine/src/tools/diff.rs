//! Differences as a model reads them.

use std::fmt::Write as _;
use std::time::Duration;

use similar::TextDiff;

use super::text::is_binary;

/// Lines that are shown.
const MAX_LINES: usize = 60;
/// After so long a difference is only approximate.
const PATIENCE: Duration = Duration::from_millis(500);

/// What changed, for a message that ends with it; nothing for what is no text.
pub(super) fn since(before: &[u8], now: &[u8]) -> String {
    if is_binary(before) || is_binary(now) {
        return String::new();
    }
    let diff = unified(before, now);
    if diff.is_empty() {
        return String::new();
    }
    format!("\nWhat changed since:\n{diff}")
}

/// A unified difference of two texts, cut after some lines.
pub(super) fn unified(before: &[u8], now: &[u8]) -> String {
    let (before, now) = (
        String::from_utf8_lossy(before),
        String::from_utf8_lossy(now),
    );
    let diff = TextDiff::configure()
        .timeout(PATIENCE)
        .diff_lines(before.as_ref(), now.as_ref());
    let text = diff
        .unified_diff()
        .context_radius(2)
        .missing_newline_hint(false)
        .to_string();
    let mut shown = String::new();
    let mut lines = text.lines();
    for line in lines.by_ref().take(MAX_LINES) {
        shown.push_str(line);
        shown.push('\n');
    }
    let more = lines.count();
    if more > 0 {
        // Writing to a text cannot fail.
        let _infallible = writeln!(shown, "[{more} more lines]");
    }
    shown
}
