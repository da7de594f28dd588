use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use everruns_core::file_system::{
    FileSystemError, SearchEvent, SearchLimits, SearchQuery, SearchSummary, Truncation,
};
use everruns_core::path::WorkspacePath;

use super::bounded::Unfinished;
use super::lines::FileLines;
use super::watch::Watch;

/// Where results go; `false` says that nobody wants more.
type Output<'a> = &'a mut dyn FnMut(Result<SearchEvent, FileSystemError>) -> bool;

/// Says that nobody wants results any more, however long the next one takes to find.
type IsAbandoned<'a> = &'a dyn Fn() -> bool;

/// Counts results against the limits of a search and passes them on.
///
/// Give it the files in the order of
/// [`compare_by_components`](super::compare_by_components), ask [`is_over`](Self::is_over) before each, and call
/// [`finish`](Self::finish) once at the end.
pub struct Collector<'a> {
    output: Output<'a>,
    budget: Budget,
    watch: Watch,
    summary: SearchSummary,
    /// The last path that was dealt with completely and that may be told.
    done: Option<WorkspacePath>,
    /// The last line of `done` that was dealt with, when there may be more of them.
    done_line: Option<u64>,
    /// Whether any file was dealt with.
    has_advanced: bool,
    time_is_up: bool,
    abandoned: bool,
    is_abandoned: Option<IsAbandoned<'a>>,
}

/// What may still be shown.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget {
    matches: usize,
    bytes: usize,
    pub(super) line_bytes: usize,
}

impl Budget {
    /// Takes one path or line off the budget, or names the limit that forbids it.
    pub(super) fn spend(&mut self, bytes: usize, is_match: bool) -> Option<Truncation> {
        if is_match && self.matches == 0 {
            return Some(Truncation::Matches);
        }
        if bytes > self.bytes {
            return Some(Truncation::Bytes);
        }
        self.matches -= usize::from(is_match);
        self.bytes -= bytes;
        None
    }
}

impl<'a> Collector<'a> {
    /// A collector with the limits of `query`, whose time starts now.
    pub fn new(query: &SearchQuery, output: Output<'a>) -> Self {
        let SearchLimits {
            matches,
            bytes,
            line_bytes,
            time,
            ..
        } = query.limits;
        Self {
            output,
            budget: Budget {
                matches,
                bytes,
                line_bytes,
            },
            watch: Watch {
                deadline: Instant::now().checked_add(time),
                is_abandoned: None,
            },
            summary: SearchSummary::default(),
            done: query.after.clone(),
            done_line: query.after_line,
            has_advanced: false,
            time_is_up: false,
            abandoned: false,
            is_abandoned: None,
        }
    }

    /// Also stops, at the next file, when `is_abandoned` says so.
    #[must_use]
    pub fn until(mut self, is_abandoned: IsAbandoned<'a>) -> Self {
        self.is_abandoned = Some(is_abandoned);
        self
    }

    /// Also stops within a file, when `is_abandoned` says so.
    #[must_use]
    pub(super) fn until_within(
        mut self,
        is_abandoned: Arc<dyn Fn() -> bool + Send + Sync>,
    ) -> Self {
        self.watch.is_abandoned = Some(is_abandoned);
        self
    }

    /// For those who look into the files.
    pub(super) fn watch(&self) -> &Watch {
        &self.watch
    }

    /// Whether the search has to stop: a limit is reached, time is up, or nobody listens.
    pub fn is_over(&mut self) -> bool {
        self.abandoned |= self.is_abandoned.is_some_and(|is_abandoned| is_abandoned());
        if self.abandoned || self.summary.truncation.is_some() {
            return true;
        }
        if self.watch.deadline.is_some_and(|end| Instant::now() >= end) {
            self.time_is_up = true;
        }
        self.time_is_up
    }

    /// Whether nothing more may be shown. What was found before time was up still may.
    pub(super) fn is_closed(&self) -> bool {
        self.abandoned || self.summary.truncation.is_some()
    }

    /// Whether any file was dealt with, so that a search that goes on advances.
    pub(super) fn has_advanced(&self) -> bool {
        self.has_advanced
    }

    /// Counts a file that is looked at.
    pub fn count_file(&mut self) {
        self.summary.files += 1;
    }

    /// Shows a path that matches.
    pub fn add_path(&mut self, path: &WorkspacePath) {
        self.add_file(path, SearchEvent::Path(path.clone()));
    }

    /// Shows a path with the number of its lines that match.
    pub fn add_count(&mut self, path: &WorkspacePath, lines: u64) {
        let path = path.clone();
        self.add_file(&path.clone(), SearchEvent::Count { path, lines });
    }

    fn add_file(&mut self, path: &WorkspacePath, event: SearchEvent) {
        if let Some(limit) = self.budget.spend(path.relative().len(), true) {
            // A limit too small for a single path must not make a search that never advances.
            if self.summary.matches == 0 {
                self.complete(path);
            }
            self.truncate(limit);
            return;
        }
        self.summary.matches += 1;
        self.complete(path);
        self.emit(Ok(event));
    }

    /// Passes over the file at `path` as binary.
    pub fn pass_over_binary(&mut self, path: &WorkspacePath) {
        self.summary.binary += 1;
        self.complete(path);
    }

    /// Passes over the file at `path` as too large.
    pub fn pass_over_large(&mut self, path: &WorkspacePath) {
        self.summary.too_large += 1;
        self.complete(path);
    }

    /// Gives up the file at `path`. When time is up, the next search begins with it; if it was the first already, it is passed
    /// over, so that the next one advances.
    pub(super) fn give_up(&mut self, path: &WorkspacePath, unfinished: Unfinished) {
        if unfinished == Unfinished::Over && self.has_advanced {
            self.truncate(Truncation::Time);
            return;
        }
        self.summary.too_slow += 1;
        self.complete(path);
    }

    /// Passes over the file at `path` because it is not asked for, so that a continued search need not look at it
    /// again. The path may be told as the one to continue after, so the query's filter must allow it.
    pub fn pass_over(&mut self, path: &WorkspacePath) {
        if self.summary.truncation.is_none() {
            self.complete(path);
        }
    }

    /// Reports something that could not be looked at; the search goes on.
    pub fn report(&mut self, error: FileSystemError) {
        self.emit(Err(error));
    }

    /// Ends the search with its summary.
    pub fn finish(mut self) {
        if self.time_is_up && self.summary.truncation.is_none() {
            self.truncate(Truncation::Time);
        }
        let summary = std::mem::take(&mut self.summary);
        self.emit(Ok(SearchEvent::Summary(summary)));
    }

    pub(super) fn budget(&self) -> Budget {
        self.budget
    }

    /// Shows the lines found in one file. When there are too many, none of them comes, and the next page begins with the
    /// file; a file that is too much for a page of its own is cut between two lines. They were found with this or an earlier,
    /// larger budget.
    pub(super) fn add_lines(&mut self, path: &WorkspacePath, found: FileLines) {
        if let Some(unfinished) = found.unfinished {
            self.give_up(path, unfinished);
            if self.summary.truncation.is_some() {
                return;
            }
        }
        let mut rest = self.budget;
        let overflow = found
            .lines
            .iter()
            .find_map(|line| rest.spend(line.text.len(), line.is_match))
            .or(found.overflow);
        if let Some(limit) = overflow {
            // Lines of a file that fits into the next page come there, all together.
            if self.summary.matches > 0 {
                self.truncate(limit);
                return;
            }
            let last = found.lines.last().map(|line| line.number);
            self.complete(path);
            // A limit too small for a single line must not make a search that never advances.
            self.done_line = last.or(found.cut_at);
            self.truncate(limit);
        } else {
            self.complete(path);
        }
        for line in found.lines {
            self.budget.spend(line.text.len(), line.is_match);
            self.summary.matches += u64::from(line.is_match);
            self.emit(Ok(SearchEvent::Line {
                path: path.clone(),
                number: line.number,
                text: line.text,
                left_out: line.left_out,
                is_match: line.is_match,
            }));
        }
    }

    fn complete(&mut self, path: &WorkspacePath) {
        self.has_advanced = true;
        self.done = Some(path.clone());
        self.done_line = None;
    }

    fn truncate(&mut self, limit: Truncation) {
        self.summary.truncation = Some(limit);
        self.summary.resume_line = self.done_line;
        self.summary.resume_after.clone_from(&self.done);
    }

    fn emit(&mut self, event: Result<SearchEvent, FileSystemError>) {
        if !self.abandoned {
            self.abandoned = !(self.output)(event);
        }
    }
}

impl fmt::Debug for Collector<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Collector")
            .field("budget", &self.budget)
            .field("summary", &self.summary)
            .finish_non_exhaustive()
    }
}
