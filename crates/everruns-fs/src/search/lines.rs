use std::io;
use std::ops::Range;

use everruns_core::file_system::Truncation;
use everruns_core::path::WorkspacePath;
use grep_matcher::Matcher as _;
use grep_regex::RegexMatcher;
use grep_searcher::{Searcher, Sink, SinkContext, SinkMatch};

use super::bounded::{self, Bounds, Unfinished};
use super::collector::Budget;

/// One line of a file, ready to be shown.
#[derive(Debug)]
pub(super) struct FoundLine {
    pub(super) number: u64,
    pub(super) text: String,
    /// How many bytes of the line come before and after the text.
    pub(super) left_out: [u64; 2],
    pub(super) is_match: bool,
}

/// The lines of one file, gathered until the file or the budget ends.
#[derive(Debug)]
pub(super) struct FileLines {
    pub(super) lines: Vec<FoundLine>,
    /// The limit that the file alone, with what was shown before it, runs into.
    pub(super) overflow: Option<Truncation>,
    /// The number of the first line that did not fit.
    pub(super) cut_at: Option<u64>,
    /// Why the file was not searched to its end.
    pub(super) unfinished: Option<Unfinished>,
}

/// The lines found in `bytes` after the first `shown_before`, as far as `budget` allows.
pub(super) fn search(
    matcher: &RegexMatcher,
    searcher: &mut Searcher,
    path: &WorkspacePath,
    bytes: &[u8],
    bounds: Bounds<'_>,
    budget: Budget,
    shown_before: u64,
) -> FileLines {
    let mut gathering = Gathering {
        found: FileLines {
            lines: Vec::new(),
            overflow: None,
            cut_at: None,
            unfinished: None,
        },
        matcher,
        bounds,
        budget,
        shown_before,
    };
    // The sink never fails and a slice has no I/O; what is left is a transcoding that gives up, after which
    // the lines found so far are still right.
    match bounded::search(matcher, searcher, bytes, bounds, &mut gathering) {
        Ok(unfinished) => gathering.found.unfinished = unfinished,
        Err(error) => tracing::debug!(%path, %error, "search of a file ended early"),
    }
    gathering.found
}

struct Gathering<'a> {
    found: FileLines,
    matcher: &'a RegexMatcher,
    bounds: Bounds<'a>,
    budget: Budget,
    /// Lines up to this number were shown before.
    shown_before: u64,
}

impl Gathering<'_> {
    /// Takes one line; `false` when the budget is used up.
    fn take(&mut self, number: Option<u64>, line: &[u8], is_match: bool) -> bool {
        let number = number.unwrap_or_default();
        if number <= self.shown_before {
            return true;
        }
        let limit = self.budget.line_bytes;
        let line = without_terminator(line);
        let part = if is_match && line.len() > limit {
            around(self.first_match(line), line.len(), limit)
        } else {
            0..line.len().min(limit)
        };
        let (text, left_out) = shown(line, part, limit);
        self.found.overflow = self.budget.spend(text.len(), is_match);
        if self.found.overflow.is_none() {
            self.found.lines.push(FoundLine {
                number,
                text,
                left_out,
                is_match,
            });
        } else {
            self.found.cut_at = Some(number);
        }
        self.found.overflow.is_none()
    }

    /// Where the match, or its end, is in a line; the line's start for one that goes over several lines.
    fn first_match(&self, line: &[u8]) -> Range<usize> {
        let effort = self.bounds.effort;
        if effort.is_small(line.len()) {
            return match self.matcher.find(line) {
                Ok(Some(found)) => found.start()..found.end(),
                _ => 0..0,
            };
        }
        if !effort.is_quick(&mut None, line, 0, false) {
            return 0..0;
        }
        match self.matcher.shortest_match(line) {
            Ok(Some(end)) => end..end,
            _ => 0..0,
        }
    }
}

impl Sink for Gathering<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        let mut number = found.line_number();
        for line in found.lines() {
            if !self.take(number, line, true) {
                return Ok(false);
            }
            number = number.map(|n| n + 1);
        }
        Ok(true)
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> Result<bool, io::Error> {
        Ok(self.take(context.line_number(), context.bytes(), false))
    }
}

fn without_terminator(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// `limit` of the `length` bytes of a line: from its start when that shows the match, else with the match in the middle.
fn around(found: Range<usize>, length: usize, limit: usize) -> Range<usize> {
    if found.end <= limit {
        return 0..limit;
    }
    let beside = limit.saturating_sub(found.len()) / 2;
    let start = found.start.saturating_sub(beside).min(length - limit);
    start..start + limit
}

/// The `part` of a line in at most `limit` bytes, without the characters that it cuts in two, and how many bytes are before
/// and after it.
fn shown(line: &[u8], part: Range<usize>, limit: usize) -> (String, [u64; 2]) {
    let is_inside = |at: usize| line.get(at).is_some_and(|byte| byte & 0xc0 == 0x80);
    // What is no UTF-8 has no characters to keep whole.
    let start = (part.start..part.end.min(part.start + 4))
        .find(|&at| !is_inside(at))
        .unwrap_or(part.start);
    let end = (part.end.saturating_sub(3).max(start)..=part.end)
        .rev()
        .find(|&at| !is_inside(at))
        .unwrap_or(part.end);
    let bytes = line.get(start..end).unwrap_or_default();
    let mut text = String::from_utf8_lossy(bytes).into_owned();
    // A byte that is no UTF-8 is shown by three.
    let kept = text.floor_char_boundary(limit);
    let after = line.len() - end + text.len() - kept;
    text.truncate(kept);
    (text, [start as u64, after as u64])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(line: &[u8], limit: usize) -> (String, [u64; 2]) {
        let line = without_terminator(line);
        shown(line, 0..line.len().min(limit), limit)
    }

    #[test]
    fn lines_are_cut_at_a_character() {
        assert_eq!(cut(b"abc\r\n", 10), ("abc".to_owned(), [0, 0]));
        assert_eq!(cut("aäöü\n".as_bytes(), 4), ("aä".to_owned(), [0, 4]));
        assert_eq!(cut(b"a\xffb\n", 10).0, "a\u{fffd}b");
        assert_eq!(cut(&[b'x'; 5_000], 2_000).0.len(), 2_000);
    }

    #[test]
    fn a_match_is_in_the_part_that_is_shown() {
        let line = format!("{}NEEDLE{}", "é".repeat(1_000), "ü".repeat(1_000));
        let (text, [before, after]) =
            shown(line.as_bytes(), around(2_000..2_006, line.len(), 101), 101);
        assert!(text.contains("NEEDLE") && text.len() <= 101, "{text}");
        assert!(text.starts_with('é') && text.ends_with('ü'), "{text}");
        assert_eq!(before + text.len() as u64 + after, line.len() as u64);
        // The end of a line, a match that is longer than what is shown, and one that begins the line.
        assert_eq!(around(90..100, 100, 30), 70..100);
        assert_eq!(around(40..90, 100, 30), 40..70);
        assert_eq!(around(0..10, 100, 30), 0..30);
    }
}
