use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use everruns_core::file_system::{
    FileSystemError, SearchEvent, SearchQuery, SearchSummary, SessionFileSystem as _,
};
use everruns_core::path::WorkspacePath;
use everruns_fs::disk::{DiskFileSystem, DiskOptions, Resolution};
use futures::StreamExt as _;
use tempfile::TempDir;

/// A folder with a secret, and beside it a tree that must not lead there.
pub(crate) struct Fixture {
    pub(crate) temp: TempDir,
    pub(crate) root: PathBuf,
    pub(crate) outside: PathBuf,
    pub(crate) files: DiskFileSystem,
}

impl Fixture {
    pub(crate) fn new(resolution: Resolution) -> Self {
        Self::within(tempfile::tempdir().unwrap(), resolution)
    }

    pub(crate) fn within(temp: TempDir, resolution: Resolution) -> Self {
        let root = temp.path().join("head");
        let outside = temp.path().join("head-evil");
        std::fs::create_dir(&root).unwrap();
        std::fs::create_dir(&outside).unwrap();
        std::fs::write(outside.join("secret"), "secret").unwrap();
        let files = open(temp.path(), resolution);
        assert_eq!(files.resolution(), resolution);
        Self {
            temp,
            root,
            outside,
            files,
        }
    }

    /// Makes a file below the top folder without the file system under test.
    pub(crate) fn put(&self, relative: &str, text: &str) {
        let path = self.root.join(relative);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub(crate) fn link(&self, target: impl AsRef<Path>, relative: &str) {
        let path = self.root.join(relative);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(target, path).unwrap();
    }

    pub(crate) fn bytes(&self, relative: &str) -> Vec<u8> {
        std::fs::read(self.root.join(relative)).unwrap()
    }

    /// Everything outside the tree is as it was made.
    pub(crate) fn assert_outside_untouched(&self) {
        assert_eq!(
            snapshot(&self.outside),
            BTreeMap::from([(PathBuf::from("secret"), b"secret".to_vec())])
        );
    }

    /// No temporary file is left in the tree.
    pub(crate) fn assert_no_leftovers(&self) {
        let left: Vec<_> = snapshot(&self.root)
            .into_keys()
            .filter(|path| path.to_string_lossy().contains("everruns-tmp"))
            .collect();
        assert!(left.is_empty(), "{left:?}");
    }
}

/// Opens the tree of a [`Fixture`] again.
pub(crate) fn open(temp: &Path, resolution: Resolution) -> DiskFileSystem {
    let options = DiskOptions::new(temp.join("locks")).resolution(resolution);
    DiskFileSystem::open(temp.join("head"), options).unwrap()
}

/// Runs `test` once for each way of resolving paths.
pub(crate) async fn each_resolution<F: Future<Output = ()>>(test: impl Fn(Fixture) -> F) {
    for resolution in [Resolution::Kernel, Resolution::Walk] {
        test(Fixture::new(resolution)).await;
    }
}

pub(crate) fn path(text: &str) -> WorkspacePath {
    WorkspacePath::parse(text).unwrap()
}

/// The files below `folder` with their bytes; links are not followed and have their target as bytes.
pub(crate) fn snapshot(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut pending = vec![PathBuf::new()];
    while let Some(relative) = pending.pop() {
        for entry in std::fs::read_dir(folder.join(&relative)).unwrap() {
            let entry = entry.unwrap();
            let below = relative.join(entry.file_name());
            let kind = entry.file_type().unwrap();
            if kind.is_dir() {
                pending.push(below);
            } else if kind.is_symlink() {
                let target = std::fs::read_link(entry.path()).unwrap();
                found.insert(below, target.into_os_string().into_encoded_bytes());
            } else if kind.is_file() {
                found.insert(below, std::fs::read(entry.path()).unwrap());
            }
        }
    }
    found
}

/// All events of a search but the last, which is the summary.
pub(crate) async fn search(
    files: &DiskFileSystem,
    query: SearchQuery,
) -> Result<(Vec<SearchEvent>, SearchSummary), FileSystemError> {
    let mut stream = files.search(query).await?;
    let mut events = Vec::new();
    while let Some(event) = stream.next().await {
        match event? {
            SearchEvent::Summary(summary) => {
                assert!(stream.next().await.is_none(), "the summary comes last");
                return Ok((events, summary));
            }
            event => events.push(event),
        }
    }
    panic!("a search ends with its summary");
}

/// The paths of `events`, once each, below the mount.
pub(crate) fn paths(events: &[SearchEvent]) -> Vec<String> {
    let mut paths: Vec<String> = Vec::new();
    for event in events {
        let path = match event {
            SearchEvent::Path(path) | SearchEvent::Line { path, .. } => path.relative(),
            other => panic!("{other:?}"),
        };
        if paths.last().is_none_or(|last| last != path) {
            paths.push(path.to_owned());
        }
    }
    paths
}
