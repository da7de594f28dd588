use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use everruns_core::file_system::{
    ContentVersion, FileKind, FileMode, FileSystemError, Precondition, ReadRange, Removal, Replace,
    SessionFileSystem, SessionFileSystemExt as _,
};
use everruns_core::path::WorkspacePath;
use everruns_fs::{AuditEvent, AuditOperation, AuditOutcome, FileUsage, LimitsFileSystem};

use super::look::{assert_refused, list, read, resolve, stat};
use super::plain::{Entries, Faults, Plain};
use super::step::Step;
use crate::support::path;

/// A change as an audit saw it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) operation: &'static str,
    pub(super) path: WorkspacePath,
    pub(super) before: Option<ContentVersion>,
    pub(super) after: Option<ContentVersion>,
    pub(super) done: bool,
}

/// What an audit's sink puts down.
pub(super) type Log = Arc<Mutex<Vec<Seen>>>;

/// A file system under test, and the plain map that says what it should do.
pub(super) struct Subject {
    pub(super) files: Arc<dyn SessionFileSystem>,
    pub(super) plain: Plain,
    pub(super) mounts: &'static [&'static str],
    /// Where each mount lies on the host, if it does.
    pub(super) hosts: Vec<(&'static str, PathBuf)>,
    pub(super) log: Option<Log>,
    pub(super) limits: Option<LimitsFileSystem>,
}

impl Seen {
    pub(super) fn of(event: &AuditEvent<'_>) -> Self {
        Self {
            operation: match event.operation {
                AuditOperation::Write { .. } => "write",
                AuditOperation::Remove { .. } => "remove",
                AuditOperation::Rename { .. } => "rename",
                _ => "create_dir",
            },
            path: event.path.clone(),
            before: event.before,
            after: event.after,
            done: matches!(event.outcome, AuditOutcome::Done),
        }
    }
}

impl Subject {
    pub(super) fn new(files: impl SessionFileSystem + 'static) -> Self {
        Self {
            files: Arc::new(files),
            plain: Plain::default(),
            mounts: &["/workspace"],
            hosts: Vec::new(),
            log: None,
            limits: None,
        }
    }

    /// Does one step on both, and compares what they say.
    pub(super) async fn step(&mut self, step: &Step) {
        let (files, plain) = (Arc::clone(&self.files), &self.plain);
        match step {
            Step::Read(path, offset, length) => {
                let (offset, length) = (*offset, *length);
                read(files.as_ref(), plain, path, ReadRange { offset, length }).await;
            }
            Step::Stat(path) => stat(files.as_ref(), plain, path).await,
            Step::Resolve(path) => resolve(files.as_ref(), plain, path).await,
            Step::List(path, limit, after) => {
                list(files.as_ref(), plain, path, *limit, after.clone()).await;
            }
            Step::Write(path, bytes, mode, wish) => {
                let precondition = plain.precondition(path, *wish);
                let before = plain.version(path);
                let bytes_given = bytes.clone();
                let done = if *mode == FileMode::Kept {
                    files.write(path, bytes_given, precondition).await
                } else {
                    let write = files.write_with_mode(path, bytes_given, *mode, precondition);
                    write.await
                };
                if let Ok(version) = &done {
                    assert_eq!(*version, ContentVersion::of(bytes), "{step:?}");
                }
                let expected = self.plain.write(path, bytes, *mode, precondition);
                self.compare(step, &done, &expected);
                let after = self.plain.version(path);
                self.assert_seen("write", path, &expected, (before, after));
            }
            Step::Remove(path, all, wish) => {
                let precondition = plain.precondition(path, *wish);
                let before = plain.version(path);
                let removal = if *all {
                    Removal::Recursive
                } else {
                    Removal::Entry
                };
                let done = files.remove(path, removal, precondition).await;
                let expected = self.plain.remove(path, *all, precondition);
                self.compare(step, &done, &expected);
                self.assert_seen("remove", path, &expected, (before, None));
            }
            Step::Rename(from, to, wish) => {
                let before = plain.version(from);
                let replace = match plain.precondition(to, *wish) {
                    Precondition::Any => Replace::File,
                    Precondition::Absent => Replace::Never,
                    Precondition::Matches(version) => Replace::Matches(version),
                };
                let done = files.rename(from, to, replace).await;
                let expected = self.plain.rename(from, to, replace);
                self.compare(step, &done, &expected);
                self.assert_seen("rename", from, &expected, (before, before));
            }
            Step::CreateDir(path) => {
                let done = files.create_dir(path).await;
                let expected = self.plain.create_dir(path);
                self.compare(step, &done, &expected);
                self.assert_seen("create_dir", path, &expected, (None, None));
            }
        }
    }

    fn compare<T: std::fmt::Debug>(
        &self,
        step: &Step,
        done: &Result<T, FileSystemError>,
        expected: &Result<(), Faults>,
    ) {
        match expected {
            Ok(()) => assert!(done.is_ok(), "{step:?} gave {done:?}"),
            Err(faults) => assert_refused(done, faults),
        }
        if let Some(limits) = &self.limits {
            let FileUsage { files, bytes, .. } = limits.usage();
            assert_eq!(
                (files, bytes),
                (self.plain.files, self.plain.bytes),
                "{step:?}"
            );
        }
    }

    /// The audit has one event for the change, and the versions around it where it was made.
    fn assert_seen(
        &self,
        operation: &'static str,
        path: &WorkspacePath,
        expected: &Result<(), Faults>,
        (before, after): (Option<ContentVersion>, Option<ContentVersion>),
    ) {
        let Some(log) = &self.log else { return };
        let mut seen = std::mem::take(&mut *log.lock().unwrap());
        let done = expected.is_ok();
        if !done {
            for event in &mut seen {
                event.before = None;
            }
        }
        let (before, after) = if done { (before, after) } else { (None, None) };
        let path = path.clone();
        assert_eq!(
            seen,
            [Seen {
                operation,
                path,
                before,
                after,
                done
            }]
        );
    }

    /// Everything there is, seen through the file system and, past it, on the host, is what the plain map holds.
    pub(super) async fn compare_all(&self) {
        let shown = self.plain.entries.iter();
        let shown = shown.filter(|(entry, _)| !self.plain.is_denied(entry));
        let shown: Entries = shown
            .map(|(entry, content)| (entry.clone(), content.clone()))
            .collect();
        let found = contents(self.files.as_ref(), self.mounts).await;
        assert_eq!(found, shown);
        for (entry, content) in &shown {
            let stat = self.files.stat(entry).await.unwrap();
            let executable = content.is_some() && self.plain.executables.contains(entry);
            assert_eq!(stat.executable, executable, "{entry}");
        }
        let mut stored = Entries::new();
        for (mount, host) in &self.hosts {
            look_below(&path(mount), host, &mut stored);
        }
        if !self.hosts.is_empty() {
            assert_eq!(stored, self.plain.entries, "on the host");
        }
    }
}

/// All that can be listed and read.
pub(super) async fn contents(files: &dyn SessionFileSystem, mounts: &[&str]) -> Entries {
    let mut found = Entries::new();
    let mut open: Vec<WorkspacePath> = mounts.iter().map(|mount| path(mount)).collect();
    while let Some(folder) = open.pop() {
        for entry in files.list_all(&folder).await.unwrap() {
            let at = folder.join(&entry.name).unwrap();
            if entry.stat.kind == FileKind::Directory {
                open.push(at.clone());
                found.insert(at, None);
            } else {
                let content = files.read(&at, ReadRange::ALL).await.unwrap();
                found.insert(at, Some(content.into_bytes()));
            }
        }
    }
    found
}

/// All that lies below a folder of the host, temporary files included.
fn look_below(at: &WorkspacePath, host: &Path, found: &mut Entries) {
    for entry in std::fs::read_dir(host).unwrap() {
        let entry = entry.unwrap();
        let at = at.join(entry.file_name().to_str().unwrap()).unwrap();
        if entry.file_type().unwrap().is_dir() {
            look_below(&at, &entry.path(), found);
            found.insert(at, None);
        } else {
            let bytes = std::fs::read(entry.path()).unwrap();
            found.insert(at, Some(Bytes::from(bytes)));
        }
    }
}
