use std::io;

use everruns_core::file_system::Truncation;
use everruns_core::path::WorkspacePath;
use grep_regex::RegexMatcher;
use grep_searcher::{Searcher, Sink, SinkContext, SinkMatch};

use super::collector::Budget;

/// One line of a file, ready to be shown.
#[derive(Debug)]
pub(super) struct FoundLine {
    pub(super) number: u64,
    pub(super) text: String,
    pub(super) is_match: bool,
}

/// The lines of one file, gathered until the file or the budget ends.
#[derive(Debug)]
pub(super) struct FileLines {
    pub(super) lines: Vec<FoundLine>,
    /// The limit that the file alone, with what was shown before it, runs into.
    pub(super) overflow: Option<Truncation>,
    budget: Budget,
}

/// The lines found in `bytes`, as far as `budget` allows.
pub(super) fn search(
    matcher: &RegexMatcher,
    searcher: &mut Searcher,
    path: &WorkspacePath,
    bytes: &[u8],
    budget: Budget,
) -> FileLines {
    let mut found = FileLines {
        lines: Vec::new(),
        overflow: None,
        budget,
    };
    // The sink never fails and a slice has no I/O; what is left is a transcoding that gives up, after which
    // the lines found so far are still right.
    if let Err(error) = searcher.search_slice(matcher, bytes, &mut found) {
        tracing::debug!(%path, %error, "search of a file ended early");
    }
    found
}

impl FileLines {
    /// Takes one line; `false` when the budget is used up.
    fn take(&mut self, number: Option<u64>, line: &[u8], is_match: bool) -> bool {
        let text = shown(line, self.budget.line_bytes);
        self.overflow = self.budget.spend(text.len(), is_match);
        if self.overflow.is_none() {
            self.lines.push(FoundLine {
                number: number.unwrap_or_default(),
                text,
                is_match,
            });
        }
        self.overflow.is_none()
    }
}

impl Sink for FileLines {
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

/// The line without its terminator, cut to `limit` bytes at a character's start.
fn shown(line: &[u8], limit: usize) -> String {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    // Cut before decoding, so that a line of a gigabyte is not decoded; a few bytes more keep the last
    // character whole.
    let head = line.get(..limit.saturating_add(4)).unwrap_or(line);
    let mut text = String::from_utf8_lossy(head).into_owned();
    if text.len() > limit {
        let mut end = limit;
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text.truncate(end);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::shown;

    #[test]
    fn lines_are_cut_at_a_character() {
        assert_eq!(shown(b"abc\r\n", 10), "abc");
        assert_eq!(shown("aäöü\n".as_bytes(), 4), "aä");
        assert_eq!(shown(b"a\xffb\n", 10), "a\u{fffd}b");
        assert_eq!(shown(&[b'x'; 5_000], 2_000).len(), 2_000);
    }
}
