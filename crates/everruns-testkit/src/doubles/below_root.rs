use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use everruns_core::file_system::{
    ContentVersion, DirectoryPage, EntryIdentity, EntrySupport, FileContent, FileMode, FileStat,
    FileSystemError, LastLink, LinkTarget, PageRequest, Permissions, Precondition, ReadRange,
    Removal, Replace, SearchEvent, SearchQuery, SearchStream, SearchSummary, SessionFileSystem,
};
use everruns_core::path::{Mount, RootName, WorkspacePath};
use futures::StreamExt as _;

/// Shows `/roots/<name>` of another file system as `/workspace`, so that what is written for a head, such as the
/// conformance suite, runs on a root.
///
/// Answers about any other mount keep their paths, so that a file system that mixes up its mounts is found out.
#[derive(Clone, Debug)]
pub struct BelowRootFileSystem {
    inner: Arc<dyn SessionFileSystem>,
    mount: Mount,
}

impl BelowRootFileSystem {
    /// Shows the root `name` of `inner`.
    pub fn new(inner: Arc<dyn SessionFileSystem>, name: RootName) -> Self {
        Self {
            inner,
            mount: Mount::Root(name),
        }
    }

    /// The path as the other file system knows it.
    fn below(&self, path: &WorkspacePath) -> WorkspacePath {
        path.with_mount(self.mount.clone())
    }

    /// The path as it is shown.
    fn shown(&self, path: WorkspacePath) -> WorkspacePath {
        if *path.mount() == self.mount {
            path.with_mount(Mount::Head)
        } else {
            path
        }
    }

    fn told<T>(&self, result: Result<T, FileSystemError>) -> Result<T, FileSystemError> {
        result.map_err(|error| error.map_paths(&|path| self.shown(path)))
    }

    fn event(&self, event: SearchEvent) -> SearchEvent {
        match event {
            SearchEvent::Path(path) => SearchEvent::Path(self.shown(path)),
            SearchEvent::Line {
                path,
                number,
                text,
                left_out,
                is_match,
            } => SearchEvent::Line {
                path: self.shown(path),
                number,
                text,
                left_out,
                is_match,
            },
            SearchEvent::Count { path, lines } => SearchEvent::Count {
                path: self.shown(path),
                lines,
            },
            SearchEvent::Summary(summary) => SearchEvent::Summary(SearchSummary {
                resume_after: summary.resume_after.map(|path| self.shown(path)),
                ..summary
            }),
            other => other,
        }
    }
}

#[async_trait]
impl SessionFileSystem for BelowRootFileSystem {
    async fn read(
        &self,
        path: &WorkspacePath,
        range: ReadRange,
    ) -> Result<FileContent, FileSystemError> {
        self.told(self.inner.read(&self.below(path), range).await)
    }

    async fn write(
        &self,
        path: &WorkspacePath,
        bytes: Bytes,
        precondition: Precondition,
    ) -> Result<ContentVersion, FileSystemError> {
        let path = self.below(path);
        self.told(self.inner.write(&path, bytes, precondition).await)
    }

    async fn write_with_mode(
        &self,
        path: &WorkspacePath,
        bytes: Bytes,
        mode: FileMode,
        precondition: Precondition,
    ) -> Result<ContentVersion, FileSystemError> {
        let path = self.below(path);
        let write = self.inner.write_with_mode(&path, bytes, mode, precondition);
        self.told(write.await)
    }

    async fn create_link(
        &self,
        path: &WorkspacePath,
        target: &LinkTarget,
        replace: Replace,
    ) -> Result<(), FileSystemError> {
        let path = self.below(path);
        self.told(self.inner.create_link(&path, target, replace).await)
    }

    async fn read_link(&self, path: &WorkspacePath) -> Result<LinkTarget, FileSystemError> {
        self.told(self.inner.read_link(&self.below(path)).await)
    }

    async fn remove(
        &self,
        path: &WorkspacePath,
        removal: Removal,
        precondition: Precondition,
    ) -> Result<(), FileSystemError> {
        let path = self.below(path);
        self.told(self.inner.remove(&path, removal, precondition).await)
    }

    async fn rename(
        &self,
        from: &WorkspacePath,
        to: &WorkspacePath,
        replace: Replace,
    ) -> Result<(), FileSystemError> {
        let (from, to) = (self.below(from), self.below(to));
        self.told(self.inner.rename(&from, &to, replace).await)
    }

    async fn create_dir(&self, path: &WorkspacePath) -> Result<(), FileSystemError> {
        self.told(self.inner.create_dir(&self.below(path)).await)
    }

    async fn create_dir_within(
        &self,
        path: &WorkspacePath,
        permissions: Permissions,
    ) -> Result<(), FileSystemError> {
        let below = self.below(path);
        self.told(self.inner.create_dir_within(&below, permissions).await)
    }

    async fn stat(&self, path: &WorkspacePath) -> Result<FileStat, FileSystemError> {
        self.told(self.inner.stat(&self.below(path)).await)
    }

    async fn list(
        &self,
        dir: &WorkspacePath,
        page: PageRequest,
    ) -> Result<DirectoryPage, FileSystemError> {
        self.told(self.inner.list(&self.below(dir), page).await)
    }

    async fn search(&self, mut query: SearchQuery) -> Result<SearchStream, FileSystemError> {
        query.folder = self.below(&query.folder);
        query.after = query.after.map(|path| self.below(&path));
        if let Some(filter) = query.filter.take() {
            let this = self.clone();
            query.filter = Some(Arc::new(move |path, is_folder| {
                filter(&this.shown(path.clone()), is_folder)
            }));
        }
        let this = self.clone();
        let events = self.told(self.inner.search(query).await)?;
        let events = events.map(move |event| this.told(event).map(|event| this.event(event)));
        Ok(Box::pin(events))
    }

    async fn resolve(
        &self,
        path: &WorkspacePath,
        last: LastLink,
    ) -> Result<WorkspacePath, FileSystemError> {
        let resolved = self.inner.resolve(&self.below(path), last).await;
        self.told(resolved).map(|path| self.shown(path))
    }

    async fn identity(
        &self,
        path: &WorkspacePath,
        last: LastLink,
    ) -> Result<Option<EntryIdentity>, FileSystemError> {
        self.told(self.inner.identity(&self.below(path), last).await)
    }

    async fn read_direct(
        &self,
        path: &WorkspacePath,
        range: ReadRange,
    ) -> Result<Option<FileContent>, FileSystemError> {
        self.told(self.inner.read_direct(&self.below(path), range).await)
    }

    async fn stat_direct(&self, path: &WorkspacePath) -> Result<Option<FileStat>, FileSystemError> {
        self.told(self.inner.stat_direct(&self.below(path)).await)
    }

    fn supports(&self, path: &WorkspacePath) -> EntrySupport {
        self.inner.supports(&self.below(path))
    }

    fn host_path(&self, path: &WorkspacePath) -> Option<PathBuf> {
        self.inner.host_path(&self.below(path))
    }
}
