//! The files of a head: a map from path to entry.

use std::collections::BTreeMap;

use everruns_core::clock::Timestamp;
use everruns_core::file_system::{
    ContentVersion, DirectoryEntry, FileKind, FileStat, FileSystemError,
};
use everruns_core::path::{Mount, WorkspacePath};
use serde::{Deserialize, Serialize};

/// A file or folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Entry {
    /// A folder.
    Folder,
    /// A file.
    File {
        /// Its content.
        version: ContentVersion,
        /// Its size in bytes.
        size: u64,
        /// When it was written.
        modified: Timestamp,
    },
}

impl Entry {
    /// What a listing tells.
    pub(crate) fn stat(&self) -> FileStat {
        match self {
            Self::Folder => FileStat {
                kind: FileKind::Directory,
                size: 0,
                executable: false,
                modified: None,
                permissions: None,
            },
            Self::File { size, modified, .. } => FileStat {
                kind: FileKind::File,
                size: *size,
                executable: false,
                modified: Some(*modified),
                permissions: None,
            },
        }
    }
}

/// Entries by their path below the head. The top folder is always there and has no entry.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Tree(pub(crate) BTreeMap<String, Entry>);

impl Tree {
    /// The entry at `path`.
    pub(crate) fn entry(&self, path: &WorkspacePath) -> Result<Entry, FileSystemError> {
        belongs(path)?;
        if path.is_top() {
            return Ok(Entry::Folder);
        }
        let found = self.0.get(path.relative()).cloned();
        found.ok_or_else(|| FileSystemError::NotFound { path: path.clone() })
    }

    /// The version of the file at `path`; `None` for anything else.
    pub(crate) fn version(&self, path: &WorkspacePath) -> Option<ContentVersion> {
        match self.0.get(path.relative()) {
            Some(Entry::File { version, .. }) => Some(*version),
            _ => None,
        }
    }

    /// Makes the folder `path` and all above it.
    pub(crate) fn make_folder(&mut self, path: &WorkspacePath) -> Result<(), FileSystemError> {
        belongs(path)?;
        let mut folder = Some(path.clone());
        let mut missing = Vec::new();
        while let Some(path) = folder.filter(|path| !path.is_top()) {
            match self.0.get(path.relative()) {
                Some(Entry::Folder) => break,
                Some(Entry::File { .. }) => return Err(FileSystemError::NotADirectory { path }),
                None => missing.push(path.relative().to_owned()),
            }
            folder = path.parent();
        }
        self.0
            .extend(missing.into_iter().map(|path| (path, Entry::Folder)));
        Ok(())
    }

    /// Everything below `path`, itself not included.
    pub(crate) fn below(&self, path: &WorkspacePath) -> impl Iterator<Item = (&str, &Entry)> {
        let prefix = if path.is_top() {
            String::new()
        } else {
            format!("{}/", path.relative())
        };
        let start = prefix.clone();
        let rest = self
            .0
            .range(start..)
            .map(|(path, entry)| (path.as_str(), entry));
        rest.take_while(move |(path, _)| path.starts_with(&prefix))
    }

    /// The entries directly in `path`, sorted by name.
    pub(crate) fn children(&self, path: &WorkspacePath) -> Vec<DirectoryEntry> {
        let skipped = if path.is_top() {
            0
        } else {
            path.relative().len() + 1
        };
        let direct = self.below(path).filter_map(|(below, entry)| {
            let name = below.get(skipped..).filter(|name| !name.contains('/'))?;
            Some(DirectoryEntry {
                name: name.to_owned(),
                stat: entry.stat(),
            })
        });
        let mut children: Vec<_> = direct.collect();
        children.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        children
    }

    /// Moves the entry `from` with all below it to `to`, where nothing may be.
    pub(crate) fn relocate(&mut self, from: &WorkspacePath, to: &WorkspacePath) {
        let inner: Vec<String> = self.below(from).map(|(path, _)| path.to_owned()).collect();
        for old in inner.into_iter().chain([from.relative().to_owned()]) {
            let tail = old.strip_prefix(from.relative()).unwrap_or_default();
            let new = format!("{}{tail}", to.relative());
            if let Some(entry) = self.0.remove(&old) {
                self.0.insert(new, entry);
            }
        }
    }

    /// The paths of files, in byte order of their components.
    pub(crate) fn files_in_order(&self, folder: &WorkspacePath) -> Vec<String> {
        let files = self
            .below(folder)
            .filter(|(_, entry)| **entry != Entry::Folder);
        let mut files: Vec<String> = files.map(|(path, _)| path.to_owned()).collect();
        files.sort_by(|a, b| a.split('/').cmp(b.split('/')));
        files
    }
}

/// Refuses paths of other mounts and of Git's own folder.
pub(crate) fn belongs(path: &WorkspacePath) -> Result<(), FileSystemError> {
    if let Mount::Root(name) = path.mount() {
        return Err(FileSystemError::UnknownRoot {
            name: name.to_string(),
            known: Vec::new(),
        });
    }
    if path.is_git_internal() {
        return Err(FileSystemError::GitInternal { path: path.clone() });
    }
    Ok(())
}
