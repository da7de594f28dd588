use std::sync::Arc;

use everruns_core::file_system::{FileSystemError, GrepQuery, GrepShow, SearchQuery, SearchTarget};
use everruns_core::path::WorkspacePath;
use globset::GlobSet;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, SearcherBuilder};

use super::collector::Collector;
use super::effort::Effort;
use super::globs;
use super::look::Looker;
use super::order::compare_by_components;

/// The most memory that a compiled expression, and separately its automaton's cache, may take.
pub(super) const MAX_REGEX_BYTES: usize = 10 << 20;

/// A query whose patterns are checked and compiled.
#[derive(Debug)]
pub struct CompiledSearch {
    query: SearchQuery,
    globs: Option<GlobSet>,
    grep: Option<Grep>,
}

/// A compiled search for lines.
#[derive(Debug)]
struct Grep {
    matcher: RegexMatcher,
    searcher: SearcherBuilder,
    show: GrepShow,
    effort: Arc<Effort>,
}

impl CompiledSearch {
    /// Compiles the patterns of `query`. No I/O is done.
    ///
    /// # Errors
    /// [`FileSystemError::InvalidPattern`] names the pattern and what is wrong with it.
    pub fn new(query: SearchQuery) -> Result<Self, FileSystemError> {
        let (globs, grep) = match &query.target {
            SearchTarget::Glob { pattern } => {
                (Some(globs::compile(std::slice::from_ref(pattern))?), None)
            }
            SearchTarget::Grep(grep) => {
                let globs = match grep.globs.as_slice() {
                    [] => None,
                    patterns => Some(globs::compile(patterns)?),
                };
                let compiled = Grep {
                    matcher: matcher(grep)?,
                    searcher: searcher(grep),
                    show: grep.show,
                    effort: Arc::new(Effort::of(grep)),
                };
                (globs, Some(compiled))
            }
            _ => {
                return Err(globs::invalid(
                    "",
                    "this kind of search is unknown".to_owned(),
                ));
            }
        };
        Ok(Self { query, globs, grep })
    }

    /// The query that was compiled.
    pub fn query(&self) -> &SearchQuery {
        &self.query
    }

    /// Whether files are read; otherwise their paths alone are the result.
    pub fn reads_files(&self) -> bool {
        self.grep.is_some()
    }

    /// Whether the file at `path` lies in the searched folder and its path matches the globs.
    ///
    /// Ignore files, hidden names and the query's filter are not asked here.
    pub fn matches_path(&self, path: &WorkspacePath) -> bool {
        let folder = &self.query.folder;
        if !path.starts_with(folder) || path == folder {
            return false;
        }
        let below = path
            .relative()
            .strip_prefix(folder.relative())
            .unwrap_or_default()
            .trim_start_matches('/');
        self.globs.as_ref().is_none_or(|set| set.is_match(below))
    }

    /// Whether an earlier search left something to show of the file at `path`, as the query's
    /// [`after`](SearchQuery::after) and [`after_line`](SearchQuery::after_line) say.
    pub fn is_left(&self, path: &WorkspacePath) -> bool {
        self.query.after.as_ref().is_none_or(|after| {
            compare_by_components(path, after).is_gt() || self.shown_before(path) > 0
        })
    }

    /// How many lines of the file at `path` an earlier search dealt with, when it ended there.
    pub(super) fn shown_before(&self, path: &WorkspacePath) -> u64 {
        let grep = self.grep.as_ref();
        let shows_lines = grep.is_some_and(|grep| grep.show == GrepShow::Lines);
        match (self.query.after_line, &self.query.after) {
            (Some(line), Some(after)) if shows_lines && after == path => line,
            _ => 0,
        }
    }

    /// Searches the `bytes` of the file at `path` and gives what is to be shown of it to `collector`.
    ///
    /// Does nothing for a query that asks for paths. A file with a NUL byte is passed over as binary, unless it
    /// starts with a UTF-16 byte-order mark.
    pub fn search_bytes(&self, path: &WorkspacePath, bytes: &[u8], collector: &mut Collector<'_>) {
        let Some(looker) = self.looker() else {
            return;
        };
        let mut looker = looker.until(collector.watch().clone());
        looker
            .look(path, bytes, collector.budget(), self.shown_before(path))
            .tell(path, collector);
    }

    /// What looks for the lines; `None` for a query that asks for paths.
    pub(super) fn looker(&self) -> Option<Looker> {
        let grep = self.grep.as_ref()?;
        let (matcher, searcher) = (grep.matcher.clone(), grep.searcher.build());
        Some(Looker::new(
            matcher,
            searcher,
            grep.show,
            Arc::clone(&grep.effort),
        ))
    }
}

fn matcher(grep: &GrepQuery) -> Result<RegexMatcher, FileSystemError> {
    if grep.pattern.len() > globs::MAX_PATTERN_BYTES {
        return Err(globs::invalid(
            &grep.pattern,
            "an expression has at most 65,536 bytes".to_owned(),
        ));
    }
    let mut builder = RegexMatcherBuilder::new();
    builder
        .fixed_strings(grep.fixed)
        .case_insensitive(grep.ignore_case)
        .multi_line(true)
        .size_limit(MAX_REGEX_BYTES)
        .dfa_size_limit(MAX_REGEX_BYTES);
    if !grep.multiline {
        builder.line_terminator(Some(b'\n'));
    }
    builder
        .build(&grep.pattern)
        .map_err(|error| globs::invalid(&grep.pattern, error.to_string()))
}

fn searcher(grep: &GrepQuery) -> SearcherBuilder {
    let shows_lines = grep.show == GrepShow::Lines;
    let context = if shows_lines { grep.context } else { 0 };
    let mut builder = SearcherBuilder::new();
    builder
        .line_number(shows_lines)
        .multi_line(grep.multiline)
        .before_context(context)
        .after_context(context)
        .binary_detection(BinaryDetection::none());
    builder
}
