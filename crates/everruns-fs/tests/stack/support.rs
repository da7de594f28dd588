use std::sync::Arc;

use bytes::Bytes;
use everruns_core::file_system::{
    FileSystemError, GrepQuery, SearchEvent, SearchQuery, SearchSummary, SearchTarget,
    SessionFileSystem, SessionFileSystemExt as _,
};
use everruns_core::path::{RootName, WorkspacePath};
use everruns_fs::disk::{DiskFileSystem, DiskOptions, Resolution};
use everruns_fs::{
    MemoryFileSystem, MountedFileSystem, PolicyFileSystem, RootAccess, WorkspacePolicy,
    WorkspaceRootSet,
};
use futures::StreamExt as _;

pub(crate) fn path(text: &str) -> WorkspacePath {
    WorkspacePath::parse(text).unwrap()
}

pub(crate) fn root(name: &str) -> RootName {
    RootName::new(name).unwrap()
}

/// A memory file system with these files.
pub(crate) async fn memory(files: &[(&str, &str)]) -> Arc<MemoryFileSystem> {
    let fs = MemoryFileSystem::new();
    for (path, text) in files {
        fs.write_all(path, text.to_string()).await.unwrap();
    }
    Arc::new(fs)
}

/// A disk file system over a fresh folder, which lives as long as the second value.
pub(crate) fn disk() -> (Arc<DiskFileSystem>, tempfile::TempDir) {
    disk_resolved_by(Resolution::Auto)
}

/// As [`disk`], with paths resolved in this way.
pub(crate) fn disk_resolved_by(resolution: Resolution) -> (Arc<DiskFileSystem>, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("tree")).unwrap();
    let options = DiskOptions::new(folder.path().join("locks")).resolution(resolution);
    let fs = DiskFileSystem::open(folder.path().join("tree"), options).unwrap();
    (Arc::new(fs), folder)
}

pub(crate) fn under(
    inner: Arc<dyn SessionFileSystem>,
    policy: WorkspacePolicy,
) -> PolicyFileSystem {
    PolicyFileSystem::new(inner, policy)
}

/// `head` with one root.
pub(crate) fn mounted(
    head: Arc<dyn SessionFileSystem>,
    name: &str,
    files: Arc<dyn SessionFileSystem>,
    access: RootAccess,
) -> MountedFileSystem {
    let roots = WorkspaceRootSet::new()
        .with_root(root(name), files, access)
        .unwrap();
    MountedFileSystem::new(head, roots)
}

pub(crate) async fn text(
    fs: &dyn SessionFileSystem,
    path: &str,
) -> Result<String, FileSystemError> {
    let bytes: Bytes = fs.read_all(path).await?;
    Ok(String::from_utf8(bytes.to_vec()).unwrap())
}

pub(crate) async fn names(fs: &dyn SessionFileSystem, dir: &str) -> Vec<String> {
    let entries = fs.list_all(&path(dir)).await.unwrap();
    entries.into_iter().map(|entry| entry.name).collect()
}

pub(crate) fn glob(folder: &str, pattern: &str) -> SearchQuery {
    let mut query = SearchQuery::new(SearchTarget::Glob {
        pattern: pattern.to_owned(),
    });
    query.folder = path(folder);
    query
}

pub(crate) fn grep(folder: &str, pattern: &str) -> SearchQuery {
    let mut query = SearchQuery::new(SearchTarget::Grep(GrepQuery::new(pattern)));
    query.folder = path(folder);
    query
}

/// The paths found, one for each result, and the summary.
pub(crate) async fn search(
    fs: &dyn SessionFileSystem,
    query: SearchQuery,
) -> (Vec<String>, SearchSummary) {
    let mut stream = fs.search(query).await.unwrap();
    let mut found = Vec::new();
    let mut last = None;
    while let Some(event) = stream.next().await {
        assert!(last.is_none(), "an event after the summary");
        match event.unwrap() {
            SearchEvent::Path(path) | SearchEvent::Line { path, .. } => {
                found.push(path.to_string());
            }
            SearchEvent::Summary(summary) => last = Some(summary),
            _ => {}
        }
    }
    (found, last.expect("a search ends with a summary"))
}
