use std::sync::Arc;

use everruns_core::file_system::{
    FileSystemError, SearchEvent, SearchQuery, SearchStream, SearchSummary, SessionFileSystem,
};
use everruns_core::path::{Mount, WorkspacePath};
use futures::StreamExt as _;

/// One tree of the namespace, and the name under which it is mounted.
///
/// A tree by itself knows only `/workspace`; what goes in is taken there, what comes out is given its mount.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    pub(super) files: Arc<dyn SessionFileSystem>,
    pub(super) mount: Mount,
}

impl Tree {
    /// The path as the tree itself knows it.
    pub(super) fn inward(path: &WorkspacePath) -> WorkspacePath {
        path.with_mount(Mount::Head)
    }

    /// The path as the session knows it.
    pub(super) fn outward(&self, path: &WorkspacePath) -> WorkspacePath {
        path.with_mount(self.mount.clone())
    }

    /// Names the paths of an error as the session knows them.
    pub(super) fn errors<T>(
        &self,
        result: Result<T, FileSystemError>,
    ) -> Result<T, FileSystemError> {
        result.map_err(|error| error.map_paths(&|path| self.outward(&path)))
    }

    pub(super) async fn search(
        &self,
        mut query: SearchQuery,
    ) -> Result<SearchStream, FileSystemError> {
        if self.mount == Mount::Head {
            return self.files.search(query).await;
        }
        query.folder = Self::inward(&query.folder);
        query.after = query.after.as_ref().map(Self::inward);
        if let Some(filter) = query.filter.take() {
            let this = self.clone();
            query.filter = Some(Arc::new(move |path, is_folder| {
                filter(&this.outward(path), is_folder)
            }));
        }
        let this = self.clone();
        let events = self.errors(self.files.search(query).await)?;
        Ok(Box::pin(events.map(move |event| {
            this.errors(event).map(|event| this.event(event))
        })))
    }

    fn event(&self, event: SearchEvent) -> SearchEvent {
        match event {
            SearchEvent::Path(path) => SearchEvent::Path(self.outward(&path)),
            SearchEvent::Line {
                path,
                number,
                text,
                left_out,
                is_match,
            } => SearchEvent::Line {
                path: self.outward(&path),
                number,
                text,
                left_out,
                is_match,
            },
            SearchEvent::Count { path, lines } => SearchEvent::Count {
                path: self.outward(&path),
                lines,
            },
            SearchEvent::Summary(summary) => SearchEvent::Summary(SearchSummary {
                resume_after: summary.resume_after.as_ref().map(|path| self.outward(path)),
                ..summary
            }),
            // A kind of result without a path of ours needs no other name.
            other => other,
        }
    }
}
