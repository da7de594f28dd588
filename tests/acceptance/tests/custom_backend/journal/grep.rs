//! The lines of a file that match.

use std::io;

use everruns_core::file_system::{FileSystemError, GrepQuery, GrepShow, SearchEvent, SearchLimits};
use everruns_core::path::WorkspacePath;
use grep_matcher::Matcher as _;
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
        let mut collector = Collector {
            path,
            matcher: &self.matcher,
            limits: self.limits,
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
    matcher: &'a RegexMatcher,
    limits: SearchLimits,
    events: Vec<SearchEvent>,
}

impl Collector<'_> {
    fn push(&mut self, first: Option<u64>, bytes: &[u8], is_match: bool) {
        for (offset, line) in bytes.split_inclusive(|byte| *byte == b'\n').enumerate() {
            let line = line.strip_suffix(b"\n").unwrap_or(line);
            let (text, left_out) = self.part(&String::from_utf8_lossy(line));
            self.events.push(SearchEvent::Line {
                path: self.path.clone(),
                number: first.unwrap_or(1) + offset as u64,
                text,
                left_out,
                is_match,
            });
        }
    }

    /// What is shown of a line, from its start unless the match would not be seen, and how much is left out around it.
    fn part(&self, line: &str) -> (String, [u64; 2]) {
        let limit = self.limits.line_bytes;
        let start = match self.matcher.find(line.as_bytes()) {
            Ok(Some(found)) if found.end() > limit => found.start(),
            _ => 0,
        };
        let start = line.floor_char_boundary(start);
        let end = line.floor_char_boundary(start + limit);
        let text = line.get(start..end).unwrap_or_default().to_owned();
        (text, [start as u64, (line.len() - end) as u64])
    }
}

impl Sink for &mut Collector<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        self.push(found.line_number(), found.bytes(), true);
        Ok(true)
    }

    fn context(&mut self, _: &Searcher, around: &SinkContext<'_>) -> io::Result<bool> {
        self.push(around.line_number(), around.bytes(), false);
        Ok(true)
    }
}
