use std::any::Any;
use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use everruns_core::file_system::{
    ContentVersion, FileSystemError, PageRequest, Precondition, ReadRange, SearchEvent,
    SearchQuery, SearchSummary, SessionFileSystem, SessionFileSystemExt as _,
};
use everruns_core::path::WorkspacePath;
use futures::StreamExt as _;

use super::Options;
use crate::check::Failure;

/// One fresh and empty file system under test, with whatever must outlive it.
///
/// A `.git` folder may be planted in its tree: the suite then proves that it is never shown.
#[derive(Clone)]
pub struct Subject {
    pub(super) fs: Arc<dyn SessionFileSystem>,
    pub(super) options: Options,
    keep: Vec<Arc<dyn Any + Send + Sync>>,
}

impl Subject {
    /// Puts `fs` to the test.
    pub fn new(fs: Arc<dyn SessionFileSystem>) -> Self {
        Self {
            fs,
            options: Options::default(),
            keep: Vec::new(),
        }
    }

    /// Keeps `value`, such as a temporary folder, until the check has ended.
    #[must_use]
    pub fn keeping(mut self, value: impl Any + Send + Sync) -> Self {
        self.keep.push(Arc::new(value));
        self
    }

    pub(super) fn with_options(mut self, options: Options) -> Self {
        self.options = options;
        self
    }

    pub(super) async fn write(&self, path: &str, bytes: &[u8]) -> Result<ContentVersion, Failure> {
        Ok(self
            .fs
            .write_all(path, Bytes::copy_from_slice(bytes))
            .await?)
    }

    pub(super) async fn write_if(
        &self,
        path: &str,
        bytes: &[u8],
        precondition: Precondition,
    ) -> Result<ContentVersion, FileSystemError> {
        let path = WorkspacePath::parse(path)?;
        let bytes = Bytes::copy_from_slice(bytes);
        self.fs.write(&path, bytes, precondition).await
    }

    pub(super) async fn read(&self, path: &str) -> Result<Bytes, FileSystemError> {
        let path = WorkspacePath::parse(path)?;
        Ok(self.fs.read(&path, ReadRange::ALL).await?.into_bytes())
    }

    /// The names in a folder.
    pub(super) async fn names(&self, dir: &str) -> Result<Vec<String>, Failure> {
        let dir = WorkspacePath::parse(dir)?;
        let mut names = Vec::new();
        let mut request = PageRequest::default();
        loop {
            let page = self.fs.list(&dir, request.clone()).await?;
            names.extend(page.entries.into_iter().map(|entry| entry.name));
            match page.next {
                None => return Ok(names),
                Some(next) => {
                    let onward = request.after.as_ref().is_none_or(|after| next > *after);
                    ensure!(onward, "a page of {dir} ends before it starts, at {next:?}");
                    request.after = Some(next);
                }
            }
        }
    }

    /// All events of a search but the summary, and the summary.
    pub(super) async fn find(
        &self,
        query: SearchQuery,
    ) -> Result<(Vec<SearchEvent>, SearchSummary), Failure> {
        let mut stream = self.fs.search(query).await?;
        let mut events = Vec::new();
        let mut summary = None;
        while let Some(event) = stream.next().await {
            ensure!(summary.is_none(), "an event after the summary: {event:?}");
            match event? {
                SearchEvent::Summary(last) => summary = Some(last),
                event => events.push(event),
            }
        }
        let summary = summary.ok_or_else(|| Failure::new("the search ended without a summary"))?;
        Ok((events, summary))
    }

    /// The paths below the head that a search shows, each once for every event.
    pub(super) async fn found_paths(&self, query: SearchQuery) -> Result<Vec<String>, Failure> {
        let (events, _) = self.find(query).await?;
        Ok(events.iter().filter_map(event_path).collect())
    }
}

/// The path of an event, relative to the head.
pub(super) fn event_path(event: &SearchEvent) -> Option<String> {
    match event {
        SearchEvent::Path(path) | SearchEvent::Line { path, .. } => {
            Some(path.relative().to_owned())
        }
        _ => None,
    }
}

impl From<Arc<dyn SessionFileSystem>> for Subject {
    fn from(fs: Arc<dyn SessionFileSystem>) -> Self {
        Self::new(fs)
    }
}

impl fmt::Debug for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subject")
            .field("fs", &self.fs)
            .finish_non_exhaustive()
    }
}

pub(super) fn path(text: &str) -> Result<WorkspacePath, Failure> {
    Ok(WorkspacePath::parse(text)?)
}
