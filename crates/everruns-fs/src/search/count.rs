use std::io;

use everruns_core::path::WorkspacePath;
use grep_regex::RegexMatcher;
use grep_searcher::{Searcher, Sink, SinkMatch};

use super::bounded::{self, Bounds, Unfinished};

/// How many lines of `bytes` match, counted no further than `enough`; or why they could not be counted.
pub(super) fn lines(
    matcher: &RegexMatcher,
    searcher: &mut Searcher,
    path: &WorkspacePath,
    bytes: &[u8],
    bounds: Bounds<'_>,
    enough: u64,
) -> Result<u64, Unfinished> {
    let mut counter = Counter { lines: 0, enough };
    // As for lines that are shown: what was counted before a transcoding gives up is right.
    match bounded::search(matcher, searcher, bytes, bounds, &mut counter) {
        Ok(Some(unfinished)) if counter.lines < enough => return Err(unfinished),
        Ok(_) => {}
        Err(error) => tracing::debug!(%path, %error, "search of a file ended early"),
    }
    Ok(counter.lines)
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
