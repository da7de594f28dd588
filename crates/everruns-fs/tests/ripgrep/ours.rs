use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use everruns_core::file_system::{
    GrepQuery, GrepShow, SearchEvent, SearchLimits, SearchQuery, SearchTarget,
    SessionFileSystem as _,
};
use everruns_core::path::WorkspacePath;
use everruns_fs::disk::{DiskFileSystem, DiskOptions};
use everruns_fs::search::of_types;
use futures::StreamExt as _;

use crate::rg::Line;

/// Limits that no test reaches.
fn unlimited() -> SearchLimits {
    SearchLimits {
        matches: usize::MAX,
        bytes: usize::MAX,
        line_bytes: 1 << 20,
        file_bytes: 64 << 20,
        time: Duration::from_mins(10),
    }
}

/// A search of the tree at `root`, whose lock files go to `locks`.
pub(crate) struct Ours<'a> {
    pub(crate) root: &'a Path,
    pub(crate) locks: &'a Path,
    pub(crate) folder: &'a str,
    pub(crate) honour_ignores: bool,
    pub(crate) hidden: bool,
}

impl Ours<'_> {
    fn query(&self, target: SearchTarget) -> SearchQuery {
        let mut query = SearchQuery::new(target);
        query.folder = WorkspacePath::parse(self.folder).unwrap();
        query.honour_ignores = self.honour_ignores;
        query.hidden = self.hidden;
        query.limits = unlimited();
        query
    }

    async fn events(&self, target: SearchTarget) -> Vec<SearchEvent> {
        self.found(self.query(target)).await
    }

    async fn found(&self, query: SearchQuery) -> Vec<SearchEvent> {
        let files = DiskFileSystem::open(self.root, DiskOptions::new(self.locks)).unwrap();
        let mut events: Vec<_> = files.search(query).await.unwrap().collect().await;
        let last = events.pop().unwrap().unwrap();
        let SearchEvent::Summary(summary) = last else {
            panic!("{last:?}");
        };
        assert_eq!(summary.truncation, None);
        assert_eq!((summary.too_large, summary.too_slow), (0, 0), "{summary:?}");
        events.into_iter().map(|event| event.unwrap()).collect()
    }

    pub(crate) async fn files(&self, glob: &str) -> BTreeSet<String> {
        let pattern = glob.to_owned();
        paths(self.events(SearchTarget::Glob { pattern }).await)
    }

    pub(crate) async fn files_of_type(&self, file_type: &str) -> BTreeSet<String> {
        let pattern = "**".to_owned();
        let query = self.query(SearchTarget::Glob { pattern });
        paths(self.found(of_type(query, file_type)).await)
    }

    /// The files in which something matches.
    pub(crate) async fn files_with(&self, mut grep: GrepQuery) -> BTreeSet<String> {
        grep.show = GrepShow::Files;
        paths(self.events(SearchTarget::Grep(grep)).await)
    }

    /// How many lines of each file of the type match.
    pub(crate) async fn counts(&self, pattern: &str, file_type: &str) -> BTreeSet<(String, u64)> {
        let mut grep = GrepQuery::new(pattern);
        grep.show = GrepShow::Counts;
        let query = self.query(SearchTarget::Grep(grep));
        let events = self.found(of_type(query, file_type)).await;
        events
            .into_iter()
            .map(|event| match event {
                SearchEvent::Count { path, lines } => (path.relative().to_owned(), lines),
                other => panic!("{other:?}"),
            })
            .collect()
    }

    pub(crate) async fn lines(&self, query: GrepQuery) -> BTreeSet<Line> {
        let events = self.events(SearchTarget::Grep(query)).await;
        let count = events.len();
        let lines: BTreeSet<_> = events
            .into_iter()
            .map(|event| match event {
                SearchEvent::Line {
                    path,
                    number,
                    text,
                    is_match,
                    ..
                } => (path.relative().to_owned(), number, text, is_match),
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(lines.len(), count, "a line was shown twice");
        lines
    }
}

fn of_type(mut query: SearchQuery, file_type: &str) -> SearchQuery {
    query.filter = Some(of_types(&[file_type.to_owned()]).unwrap());
    query
}

fn paths(events: Vec<SearchEvent>) -> BTreeSet<String> {
    events
        .into_iter()
        .map(|event| match event {
            SearchEvent::Path(path) => path.relative().to_owned(),
            other => panic!("{other:?}"),
        })
        .collect()
}
