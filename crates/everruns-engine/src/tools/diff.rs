//! Differences as a model reads them.

use std::fmt::Write as _;
use std::time::Duration;

use bytes::Bytes;
use similar::TextDiff;

use super::encoding;

/// Lines that are shown.
const MAX_LINES: usize = 60;
/// After so long a difference is only approximate.
const PATIENCE: Duration = Duration::from_millis(500);

/// What changed, for a message that ends with it; nothing for what is no text.
pub(super) fn since(before: &Bytes, now: &Bytes) -> String {
    let (Some(before), Some(now)) = (encoding::decode(before), encoding::decode(now)) else {
        return String::new();
    };
    let diff = unified(&before.bytes, &now.bytes);
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
    // A byte order mark cannot be seen, so it would make lines look changed that are not.
    let diff = TextDiff::configure().timeout(PATIENCE).diff_lines(
        before.trim_start_matches('\u{feff}'),
        now.trim_start_matches('\u{feff}'),
    );
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
