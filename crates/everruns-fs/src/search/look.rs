use std::sync::Arc;

use everruns_core::file_system::GrepShow;
use everruns_core::path::WorkspacePath;
use grep_regex::RegexMatcher;
use grep_searcher::Searcher;

use super::bounded::{Bounds, Unfinished};
use super::collector::{Budget, Collector};
use super::compile::CompiledSearch;
use super::count;
use super::effort::Effort;
use super::lines::{self, FileLines};
use super::source::{SearchSource, SourceFile};
use super::watch::Watch;

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
    /// It was not searched to its end.
    Unfinished(Unfinished),
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
            Self::Unfinished(unfinished) => collector.give_up(path, unfinished),
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
    effort: Arc<Effort>,
    watch: Watch,
}

impl Looker {
    pub(super) fn new(
        matcher: RegexMatcher,
        searcher: Searcher,
        show: GrepShow,
        effort: Arc<Effort>,
    ) -> Self {
        Self {
            matcher,
            searcher,
            show,
            effort,
            watch: Watch::default(),
        }
    }

    /// Also stops within a file, when `watch` is over.
    pub(super) fn until(mut self, watch: Watch) -> Self {
        self.watch = watch;
        self
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
        let bounds = Bounds {
            effort: &self.effort,
            watch: &self.watch,
        };
        match self.show {
            GrepShow::Files => match count::lines(matcher, searcher, path, bytes, bounds, 1) {
                Ok(0) => Outcome::None,
                Ok(_) => Outcome::File,
                Err(unfinished) => Outcome::Unfinished(unfinished),
            },
            GrepShow::Counts => {
                match count::lines(matcher, searcher, path, bytes, bounds, u64::MAX) {
                    Ok(0) => Outcome::None,
                    Ok(lines) => Outcome::Count(lines),
                    Err(unfinished) => Outcome::Unfinished(unfinished),
                }
            }
            _ => Outcome::Lines(lines::search(
                matcher,
                searcher,
                path,
                bytes,
                bounds,
                budget,
                shown_before,
            )),
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
