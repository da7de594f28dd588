use everruns_core::file_system::GrepShow;
use everruns_core::path::WorkspacePath;
use grep_regex::RegexMatcher;
use grep_searcher::Searcher;

use super::collector::{Budget, Collector};
use super::compile::CompiledSearch;
use super::count;
use super::lines::{self, FileLines};
use super::source::{SearchSource, SourceFile};

/// What became of one file.
#[derive(Debug)]
pub(super) enum Outcome {
    Lines(FileLines),
    /// It has a match, and its path is all that is shown of it.
    File,
    /// So many of its lines match.
    Count(u64),
    /// Nothing in it matches.
    None,
    Binary,
    TooLarge,
    Gone,
    Failed(everruns_core::file_system::FileSystemError),
    /// It was not asked for.
    PassedOver,
}

impl Outcome {
    /// Tells `collector`, in the order of the files.
    pub(super) fn apply(self, path: &WorkspacePath, collector: &mut Collector<'_>) {
        if !matches!(self, Self::PassedOver) {
            collector.count_file();
        }
        self.tell(path, collector);
    }

    /// Tells `collector`, which has counted the file.
    pub(super) fn tell(self, path: &WorkspacePath, collector: &mut Collector<'_>) {
        match self {
            Self::Lines(found) => collector.add_lines(path, found),
            Self::File => collector.add_path(path),
            Self::Count(lines) => collector.add_count(path, lines),
            Self::Binary => collector.pass_over_binary(path),
            Self::TooLarge => collector.pass_over_large(path),
            Self::Gone => {}
            Self::Failed(error) => collector.report(error),
            Self::None | Self::PassedOver => collector.pass_over(path),
        }
    }
}

/// Looks for lines in one file after the other. Its buffers serve all of them, so each thread has its own.
#[derive(Clone, Debug)]
pub(super) struct Looker {
    matcher: RegexMatcher,
    searcher: Searcher,
    show: GrepShow,
}

impl Looker {
    pub(super) fn new(matcher: RegexMatcher, searcher: Searcher, show: GrepShow) -> Self {
        Self {
            matcher,
            searcher,
            show,
        }
    }

    /// What is to be shown of `bytes`; lines after the first `shown_before` as far as `budget` allows.
    pub(super) fn look(
        &mut self,
        path: &WorkspacePath,
        bytes: &[u8],
        budget: Budget,
        shown_before: u64,
    ) -> Outcome {
        if is_binary(bytes) {
            return Outcome::Binary;
        }
        let (matcher, searcher) = (&self.matcher, &mut self.searcher);
        match self.show {
            GrepShow::Files => match count::lines(matcher, searcher, path, bytes, 1) {
                0 => Outcome::None,
                _ => Outcome::File,
            },
            GrepShow::Counts => match count::lines(matcher, searcher, path, bytes, u64::MAX) {
                0 => Outcome::None,
                lines => Outcome::Count(lines),
            },
            _ => {
                let found = lines::search(matcher, searcher, path, bytes, budget, shown_before);
                Outcome::Lines(found)
            }
        }
    }

    /// Reads the file `name` in `folder` and looks for lines in it.
    pub(super) fn look_into<S: SearchSource>(
        &mut self,
        source: &S,
        search: &CompiledSearch,
        (folder, name): (&S::Folder, &str),
        path: &WorkspacePath,
        budget: Budget,
    ) -> Outcome {
        let limit = search.query().limits.file_bytes;
        match source.read(folder, name, path, limit) {
            Ok(SourceFile::Content(bytes)) => {
                self.look(path, &bytes, budget, search.shown_before(path))
            }
            Ok(SourceFile::TooLarge) => Outcome::TooLarge,
            Ok(SourceFile::Gone) => Outcome::Gone,
            Err(error) => Outcome::Failed(error),
        }
    }
}

fn is_binary(bytes: &[u8]) -> bool {
    let utf16 = bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]);
    !utf16 && bytes.contains(&0)
}
