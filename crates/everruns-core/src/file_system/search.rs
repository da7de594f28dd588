use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures::Stream;
use serde::{Deserialize, Serialize};

use super::FileSystemError;
use crate::path::WorkspacePath;

/// Decides which paths a search may show; a wrapper adds its own without opening a file.
///
/// It gets `true` for folders, which are then not entered when refused.
pub type PathFilter = Arc<dyn Fn(&WorkspacePath, bool) -> bool + Send + Sync>;

/// The results of a search: any number of paths or lines, then one summary.
pub type SearchStream = Pin<Box<dyn Stream<Item = Result<SearchEvent, FileSystemError>> + Send>>;

/// What is searched for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SearchTarget {
    /// Files whose path below the searched folder matches a glob, in the syntax of the `globset` crate
    /// with literal separators (`**` crosses folders). A glob without a slash matches names at any depth.
    Glob {
        /// The glob.
        pattern: String,
    },
    /// Lines of files that match a regular expression.
    Grep(GrepQuery),
}

/// What a search for lines shows of a file with matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum GrepShow {
    /// Its lines: [`SearchEvent::Line`].
    #[default]
    Lines,
    /// Its path: [`SearchEvent::Path`].
    Files,
    /// Its path and how many of its lines match: [`SearchEvent::Count`].
    Counts,
}

/// A search for lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrepQuery {
    /// A regular expression in the syntax of the `regex` crate, or a fixed text.
    pub pattern: String,
    /// Takes the pattern literally.
    pub fixed: bool,
    /// Ignores case.
    pub ignore_case: bool,
    /// Lets a match span lines.
    pub multiline: bool,
    /// Only files whose path matches one of these globs; all when empty.
    pub globs: Vec<String>,
    /// How many lines before and after each match to show, when lines are shown.
    pub context: usize,
    /// What is shown of a file with matches.
    pub show: GrepShow,
}

impl GrepQuery {
    /// A case-sensitive search for `pattern` in all files.
    pub fn new(pattern: impl Into<String>) -> Self {
        Self {
            pattern: pattern.into(),
            fixed: false,
            ignore_case: false,
            multiline: false,
            globs: Vec::new(),
            context: 0,
            show: GrepShow::Lines,
        }
    }
}

/// How much a search may cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchLimits {
    /// At most so many matches (paths, counts or matching lines).
    pub matches: usize,
    /// At most so many bytes of lines or paths.
    pub bytes: usize,
    /// At most so many bytes of one line; of longer ones a part is shown.
    pub line_bytes: usize,
    /// Files larger than this are passed over, in bytes.
    pub file_bytes: u64,
    /// At most so long.
    pub time: Duration,
}

impl Default for SearchLimits {
    fn default() -> Self {
        Self {
            matches: 1_000,
            bytes: 1 << 20,
            line_bytes: 2_000,
            file_bytes: 64 << 20,
            time: Duration::from_secs(20),
        }
    }
}

/// A search in one folder and all below it.
#[derive(Clone)]
#[non_exhaustive]
pub struct SearchQuery {
    /// What is searched for.
    pub target: SearchTarget,
    /// Where.
    pub folder: WorkspacePath,
    /// Leaves out what `.gitignore` and its kin name. On by default.
    pub honour_ignores: bool,
    /// Looks into names that start with a dot. Off by default.
    pub hidden: bool,
    /// Only paths after this one, in the order of the results; continues an earlier search.
    pub after: Option<WorkspacePath>,
    /// Goes on in the file `after` itself, after the line of this number, where lines are shown.
    pub after_line: Option<u64>,
    /// What it may cost.
    pub limits: SearchLimits,
    /// Paths that may be shown; all when `None`.
    pub filter: Option<PathFilter>,
}

impl SearchQuery {
    /// A search for `target` in the whole head, ignores honoured, with the default limits.
    pub fn new(target: SearchTarget) -> Self {
        Self {
            target,
            folder: WorkspacePath::root(),
            honour_ignores: true,
            hidden: false,
            after: None,
            after_line: None,
            limits: SearchLimits::default(),
            filter: None,
        }
    }

    /// Also asks `filter`; a path is shown only when every filter allows it.
    #[must_use]
    pub fn also_filter(mut self, filter: PathFilter) -> Self {
        self.filter = Some(match self.filter.take() {
            None => filter,
            Some(first) => {
                Arc::new(move |path, folder| first(path, folder) && filter(path, folder))
            }
        });
        self
    }

    /// Whether `path` may be shown.
    pub fn allows(&self, path: &WorkspacePath, is_folder: bool) -> bool {
        self.filter
            .as_ref()
            .is_none_or(|filter| filter(path, is_folder))
    }
}

impl fmt::Debug for SearchQuery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SearchQuery")
            .field("target", &self.target)
            .field("folder", &self.folder)
            .field("honour_ignores", &self.honour_ignores)
            .field("hidden", &self.hidden)
            .field("after", &self.after)
            .field("after_line", &self.after_line)
            .field("limits", &self.limits)
            .field("filtered", &self.filter.is_some())
            .finish()
    }
}

/// One result of a search. Paths come in byte order of their components.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SearchEvent {
    /// A path that matches.
    Path(WorkspacePath),
    /// A line that matches, or a line of context around one.
    Line {
        /// The file.
        path: WorkspacePath,
        /// The line's number, counted from 1.
        number: u64,
        /// The line without its terminator, invalid UTF-8 replaced. Of a line that is longer than the limit it is the part
        /// with the first match.
        text: String,
        /// How many bytes of the line are left out before and after `text`.
        left_out: [u64; 2],
        /// `false` for a line of context.
        is_match: bool,
    },
    /// A file and how many of its lines match, at least one.
    Count {
        /// The file.
        path: WorkspacePath,
        /// How many.
        lines: u64,
    },
    /// The last event.
    Summary(SearchSummary),
}

/// How a search ended.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SearchSummary {
    /// How many files were looked at.
    pub files: u64,
    /// How many paths or lines were shown as matches.
    pub matches: u64,
    /// How many files were passed over as binary.
    pub binary: u64,
    /// How many files were passed over as too large.
    pub too_large: u64,
    /// How many files were not searched to their end, as the pattern takes too long in them.
    #[serde(default)]
    pub too_slow: u64,
    /// Why it stopped early; `None` when all was searched.
    pub truncation: Option<Truncation>,
    /// Where to continue after a truncation: the [`SearchQuery::after`] of the next search.
    pub resume_after: Option<WorkspacePath>,
    /// The [`SearchQuery::after_line`] of the next search, when there may be more in the file `resume_after`.
    #[serde(default)]
    pub resume_line: Option<u64>,
}

/// Which limit ended a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Truncation {
    /// [`SearchLimits::matches`].
    Matches,
    /// [`SearchLimits::bytes`].
    Bytes,
    /// [`SearchLimits::time`].
    Time,
}
