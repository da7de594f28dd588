//! The lines of a file that match.

use std::io;

use everruns_core::file_system::{FileSystemError, GrepQuery, SearchEvent, SearchLimits};
use everruns_core::path::WorkspacePath;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{Searcher, SearcherBuilder, Sink, SinkContext, SinkMatch};

use super::search::invalid;

/// A compiled search for lines.
pub(crate) struct Lines {
    matcher: RegexMatcher,
    multiline: bool,
    context: usize,
    limits: SearchLimits,
}

impl Lines {
    pub(crate) fn new(query: &GrepQuery, limits: SearchLimits) -> Result<Self, FileSystemError> {
        let mut builder = RegexMatcherBuilder::new();
        builder
            .multi_line(true)
            .case_insensitive(query.ignore_case)
            .fixed_strings(query.fixed);
        if !query.multiline {
            builder.line_terminator(Some(b'\n'));
        }
        match builder.build(&query.pattern) {
            Ok(matcher) => Ok(Self {
                matcher,
                multiline: query.multiline,
                context: query.context,
                limits,
            }),
            Err(error) => Err(invalid(&query.pattern, error.to_string())),
        }
    }

    /// The lines of `bytes` that match, and those around them.
    pub(crate) fn of(&self, path: &WorkspacePath, bytes: &[u8]) -> Vec<SearchEvent> {
        let mut collector = Collector {
            path,
            limits: self.limits,
            matches: 0,
            events: Vec::new(),
        };
        let mut searcher = SearcherBuilder::new()
            .line_number(true)
            .multi_line(self.multiline)
            .before_context(self.context)
            .after_context(self.context)
            .build();
        // The collector never fails, and bytes in memory can always be read.
        match searcher.search_slice(&self.matcher, bytes, &mut collector) {
            Ok(()) | Err(_) => collector.events,
        }
    }
}

struct Collector<'a> {
    path: &'a WorkspacePath,
    limits: SearchLimits,
    matches: usize,
    events: Vec<SearchEvent>,
}

impl Collector<'_> {
    fn push(&mut self, first: Option<u64>, bytes: &[u8], is_match: bool) {
        for (offset, line) in bytes.split_inclusive(|byte| *byte == b'\n').enumerate() {
            let line = line.strip_suffix(b"\n").unwrap_or(line);
            let mut text = String::from_utf8_lossy(line).into_owned();
            text.truncate(text.floor_char_boundary(self.limits.line_bytes));
            self.events.push(line_event(
                self.path,
                first.unwrap_or(1) + offset as u64,
                text,
                is_match,
            ));
        }
    }
}

fn line_event(path: &WorkspacePath, number: u64, text: String, is_match: bool) -> SearchEvent {
    SearchEvent::Line {
        path: path.clone(),
        number,
        text,
        is_match,
    }
}

impl Sink for &mut Collector<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        self.push(found.line_number(), found.bytes(), true);
        self.matches += 1;
        Ok(self.matches < self.limits.matches)
    }

    fn context(&mut self, _: &Searcher, around: &SinkContext<'_>) -> io::Result<bool> {
        self.push(around.line_number(), around.bytes(), false);
        Ok(true)
    }
}
