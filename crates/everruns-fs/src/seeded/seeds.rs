use bytes::Bytes;
use everruns_core::file_system::{ContentVersion, FileKind, FileStat};
use everruns_core::path::WorkspacePath;

use super::SeedError;
use crate::search::compare_by_components;

/// A file that an application puts into a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeededFile {
    /// Where.
    pub path: WorkspacePath,
    /// Its bytes.
    pub content: Bytes,
    /// Whether it is always served with exactly these bytes and refuses every change.
    pub read_only: bool,
}

impl SeededFile {
    /// A file that is written once, and then is like any other.
    pub fn new(path: WorkspacePath, content: impl Into<Bytes>) -> Self {
        Self {
            path,
            content: content.into(),
            read_only: false,
        }
    }

    /// A file that can only be read.
    pub fn read_only(path: WorkspacePath, content: impl Into<Bytes>) -> Self {
        Self {
            read_only: true,
            ..Self::new(path, content)
        }
    }
}

/// A seed that can only be read.
#[derive(Clone, Debug)]
pub(super) struct Locked {
    pub(super) path: WorkspacePath,
    pub(super) content: Bytes,
    pub(super) version: ContentVersion,
}

/// The seeds of a session, checked and sorted.
#[derive(Clone, Debug, Default)]
pub(super) struct Seeds {
    pub(super) all: Vec<SeededFile>,
    /// In byte order of their components, so that all below one folder are neighbours.
    locked: Vec<Locked>,
}

impl Seeds {
    pub(super) fn new(mut all: Vec<SeededFile>) -> Result<Self, SeedError> {
        all.sort_by(|a, b| compare_by_components(&a.path, &b.path));
        for (index, seed) in all.iter().enumerate() {
            let path = seed.path.clone();
            if path.is_git_internal() {
                return Err(SeedError::GitInternal { path });
            }
            if path.is_top() {
                return Err(SeedError::NotAFile { path });
            }
            // In this order a path comes right before all that is below it.
            if let Some(before) = index.checked_sub(1).and_then(|before| all.get(before)) {
                if before.path == path {
                    return Err(SeedError::Duplicate { path });
                }
                if path.starts_with(&before.path) {
                    return Err(SeedError::NotAFile { path });
                }
            }
        }
        let locked = all.iter().filter(|seed| seed.read_only);
        let locked = locked
            .map(|seed| Locked {
                path: seed.path.clone(),
                version: ContentVersion::of(&seed.content),
                content: seed.content.clone(),
            })
            .collect();
        Ok(Self { all, locked })
    }

    /// Whether nothing is read-only, so that every call can be passed on as it is.
    pub(super) fn lock_nothing(&self) -> bool {
        self.locked.is_empty()
    }

    /// The read-only seed at exactly `path`.
    pub(super) fn get(&self, path: &WorkspacePath) -> Option<&Locked> {
        self.locked
            .binary_search_by(|seed| compare_by_components(&seed.path, path))
            .ok()
            .and_then(|at| self.locked.get(at))
    }

    /// The read-only seed that `path` is, or would be below of.
    pub(super) fn above(&self, path: &WorkspacePath) -> Option<&Locked> {
        if self.lock_nothing() {
            return None;
        }
        let mut at = Some(path.clone());
        while let Some(path) = at {
            if let Some(seed) = self.get(&path) {
                return Some(seed);
            }
            at = path.parent();
        }
        None
    }

    /// The read-only seeds at `folder` or below it.
    pub(super) fn below(&self, folder: &WorkspacePath) -> &[Locked] {
        let start = self
            .locked
            .partition_point(|seed| compare_by_components(&seed.path, folder).is_lt());
        let rest = self.locked.get(start..).unwrap_or_default();
        let length = rest.partition_point(|seed| seed.path.starts_with(folder));
        rest.get(..length).unwrap_or_default()
    }
}

impl Locked {
    pub(super) fn stat(&self) -> FileStat {
        FileStat {
            kind: FileKind::File,
            size: self.content.len() as u64,
            executable: false,
            modified: None,
            permissions: None,
        }
    }
}

/// What is known of a folder that only seeds are in.
pub(super) fn folder_stat() -> FileStat {
    FileStat {
        kind: FileKind::Directory,
        size: 0,
        executable: false,
        modified: None,
        permissions: None,
    }
}
