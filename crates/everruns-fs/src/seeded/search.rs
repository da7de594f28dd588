use std::sync::Arc;

use everruns_core::file_system::{FileSystemError, SearchEvent, SearchQuery, SearchStream};
use everruns_core::path::WorkspacePath;

use super::SeededFileSystem;
use super::merge::{Limits, Merge};
use crate::search::{Collector, CompiledSearch};
use crate::swap_folder::swap_folder;

impl SeededFileSystem {
    /// Searches the files below and the seeds, and merges what both find.
    pub(super) async fn search_with_seeds(
        &self,
        query: SearchQuery,
        really: WorkspacePath,
    ) -> Result<SearchStream, FileSystemError> {
        let limits = Limits::of(&query);
        let found = self.search_seeds(query.clone(), &really)?;
        let (seeds, folder) = (Arc::clone(&self.seeds), query.folder.clone());
        let outside = query.also_filter(Arc::new(move |path: &WorkspacePath, _| {
            swap_folder(path, &folder, &really).is_none_or(|really| seeds.above(&really).is_none())
        }));
        let below = match self.inner.search(outside).await {
            // The folder is there only because of the seeds.
            Err(FileSystemError::NotFound { .. }) => None,
            other => Some(other?),
        };
        Ok(Merge::new(below, found, limits).into_stream())
    }

    /// What the search finds in the seeds, in order, with its own summary at the end.
    fn search_seeds(
        &self,
        query: SearchQuery,
        really: &WorkspacePath,
    ) -> Result<Vec<SearchEvent>, FileSystemError> {
        let search = CompiledSearch::new(query)?;
        let query = search.query();
        let mut events = Vec::new();
        let mut keep = |event: Result<SearchEvent, FileSystemError>| {
            events.extend(event);
            true
        };
        let mut collector = Collector::new(query, &mut keep);
        for seed in self.seeds.below(really) {
            let Some(path) = swap_folder(&seed.path, really, &query.folder) else {
                continue;
            };
            if collector.is_over() {
                break;
            }
            if !search.is_left(&path) || !is_wanted(query, &path) || !search.matches_path(&path) {
                continue;
            }
            collector.count_file();
            if !search.reads_files() {
                collector.add_path(&path);
            } else if seed.content.len() as u64 > query.limits.file_bytes {
                collector.pass_over_large(&path);
            } else {
                search.search_bytes(&path, &seed.content, &mut collector);
            }
        }
        collector.finish();
        Ok(events)
    }
}

/// Whether the query lets `path` be shown. Seeds are the application's, so no ignore file leaves them out.
fn is_wanted(query: &SearchQuery, path: &WorkspacePath) -> bool {
    let depth = query.folder.components().count();
    let is_hidden = || {
        path.components()
            .skip(depth)
            .any(|name| name.starts_with('.'))
    };
    if !query.hidden && is_hidden() {
        return false;
    }
    let mut folder = path.parent();
    while let Some(above) = folder.filter(|above| *above != query.folder) {
        if !query.allows(&above, true) {
            return false;
        }
        folder = above.parent();
    }
    query.allows(path, false)
}
