use std::io;

use everruns_core::path::WorkspacePath;
use grep_regex::RegexMatcher;
use grep_searcher::{Searcher, Sink, SinkMatch};

/// How many lines of `bytes` match, counted no further than `enough`.
pub(super) fn lines(
    matcher: &RegexMatcher,
    searcher: &mut Searcher,
    path: &WorkspacePath,
    bytes: &[u8],
    enough: u64,
) -> u64 {
    let mut counter = Counter { lines: 0, enough };
    // As for lines that are shown: what was counted before a transcoding gives up is right.
    if let Err(error) = searcher.search_slice(matcher, bytes, &mut counter) {
        tracing::debug!(%path, %error, "search of a file ended early");
    }
    counter.lines
}

struct Counter {
    lines: u64,
    enough: u64,
}

impl Sink for Counter {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        self.lines += found.lines().count() as u64;
        Ok(self.lines < self.enough)
    }
}
