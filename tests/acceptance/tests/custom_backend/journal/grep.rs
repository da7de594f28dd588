//! The lines of a file that match.

use std::io;

use everruns_core::file_system::{FileSystemError, GrepQuery, GrepShow, SearchEvent, SearchLimits};
use everruns_core::path::WorkspacePath;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{Searcher, SearcherBuilder, Sink, SinkContext, SinkMatch};

use super::search::invalid;

/// A compiled search for lines.
pub(crate) struct Lines {
    matcher: RegexMatcher,
    multiline: bool,
    context: usize,
    show: GrepShow,
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
                show: query.show,
                limits,
            }),
            Err(error) => Err(invalid(&query.pattern, error.to_string())),
        }
    }

    /// The lines of `bytes` that match, and those around them.
    pub(crate) fn of(&self, path: &WorkspacePath, bytes: &[u8]) -> Vec<SearchEvent> {
        let mut limits = self.limits;
        if self.show != GrepShow::Lines {
            // The lines of one file count as one match.
            limits.matches = usize::MAX;
        }
        let mut collector = Collector {
            path,
            limits,
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
            Ok(()) | Err(_) => self.shown(path, collector.events),
        }
    }

    /// What is shown of a file in which these lines were found.
    fn shown(&self, path: &WorkspacePath, found: Vec<SearchEvent>) -> Vec<SearchEvent> {
        let is_match =
            |event: &&SearchEvent| matches!(event, SearchEvent::Line { is_match: true, .. });
        let lines = found.iter().filter(is_match).count() as u64;
        let path = path.clone();
        match self.show {
            GrepShow::Files if lines > 0 => vec![SearchEvent::Path(path)],
            GrepShow::Counts if lines > 0 => vec![SearchEvent::Count { path, lines }],
            GrepShow::Files | GrepShow::Counts => Vec::new(),
            _ => found,
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
