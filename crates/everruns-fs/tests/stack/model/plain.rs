use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use everruns_core::file_system::{ContentVersion, FileMode, Precondition, Replace};
use everruns_core::path::WorkspacePath;

use super::fault::Fault;
use super::step::Wish;

/// What a file system is, said as plainly as possible: every entry below the mounts; `None` is a folder.
pub(super) type Entries = BTreeMap<WorkspacePath, Option<Bytes>>;

/// What the layers of a stack forbid.
#[derive(Clone, Debug, Default)]
pub(super) struct Rules {
    /// The name that a policy denies.
    pub(super) denied: Option<&'static str>,
    pub(super) file_bytes: Option<u64>,
    pub(super) files: Option<u64>,
    pub(super) total_bytes: Option<u64>,
}

/// The plain map, the rules over it, and what was used of its limits.
#[derive(Clone, Debug, Default)]
pub(super) struct Plain {
    pub(super) entries: Entries,
    /// Which files are executable.
    pub(super) executables: BTreeSet<WorkspacePath>,
    pub(super) rules: Rules,
    pub(super) files: u64,
    pub(super) bytes: u64,
}

/// All that is wrong with an operation. An implementation may name any one of it.
pub(super) type Faults = BTreeSet<Fault>;

impl Plain {
    pub(super) fn is_folder(&self, path: &WorkspacePath) -> bool {
        path.is_top() || matches!(self.entries.get(path), Some(None))
    }

    pub(super) fn file(&self, path: &WorkspacePath) -> Option<&Bytes> {
        self.entries.get(path)?.as_ref()
    }

    pub(super) fn version(&self, path: &WorkspacePath) -> Option<ContentVersion> {
        self.file(path).map(|bytes| ContentVersion::of(bytes))
    }

    pub(super) fn below(&self, path: &WorkspacePath) -> Vec<WorkspacePath> {
        let is_below = |entry: &&WorkspacePath| *entry != path && entry.starts_with(path);
        self.entries.keys().filter(is_below).cloned().collect()
    }

    pub(super) fn is_denied(&self, path: &WorkspacePath) -> bool {
        self.rules
            .denied
            .is_some_and(|denied| path.components().any(|name| name == denied))
    }

    /// The precondition that `wish` comes to.
    pub(super) fn precondition(&self, path: &WorkspacePath, wish: Wish) -> Precondition {
        match wish {
            Wish::Any => Precondition::Any,
            Wish::Absent => Precondition::Absent,
            Wish::Stale => Precondition::Matches(ContentVersion::of(b"never written")),
            Wish::Current => {
                let nothing = ContentVersion::of(b"nothing is there");
                Precondition::Matches(self.version(path).unwrap_or(nothing))
            }
        }
    }

    pub(super) fn write(
        &mut self,
        path: &WorkspacePath,
        bytes: &Bytes,
        mode: FileMode,
        precondition: Precondition,
    ) -> Result<(), Faults> {
        let size = bytes.len() as u64;
        let files = match precondition {
            Precondition::Matches(_) => 0,
            Precondition::Any | Precondition::Absent => self.missing(path),
        };
        let mut faults = self.over_limit(files, size);
        if self.rules.file_bytes.is_some_and(|limit| size > limit) {
            faults.insert(Fault::TooLarge);
        }
        if self.is_denied(path) {
            faults.insert(Fault::Denied);
            return Err(faults);
        }
        if self.is_below_a_file(path) {
            faults.insert(Fault::NotADirectory);
        } else if self.is_folder(path) {
            faults.insert(Fault::NotAFile);
        } else if precondition.check(path, self.version(path)).is_err() {
            faults.insert(Fault::Conflict(self.version(path)));
        }
        refuse(faults)?;
        self.use_up(files, size);
        self.make_folders(path);
        self.entries.insert(path.clone(), Some(bytes.clone()));
        let executable = mode.executable(self.executables.remove(path));
        self.executables.extend(executable.then(|| path.clone()));
        Ok(())
    }

    pub(super) fn remove(
        &mut self,
        path: &WorkspacePath,
        all: bool,
        precondition: Precondition,
    ) -> Result<(), Faults> {
        let mut faults = self.denial_with_all_below(path, all);
        if self.is_denied(path) {
            return Err(faults);
        }
        let is_full = !self.below(path).is_empty();
        if path.is_top() {
            faults.insert(Fault::Invalid);
        } else if self.is_folder(path) {
            if precondition != Precondition::Any {
                faults.insert(Fault::NotAFile);
            }
            if is_full && !all {
                faults.insert(Fault::NotEmpty);
            }
        } else if self.entries.contains_key(path) {
            if precondition.check(path, self.version(path)).is_err() {
                faults.insert(Fault::Conflict(self.version(path)));
            }
        } else {
            faults.insert(self.nothing_at(path));
        }
        refuse(faults)?;
        self.entries.retain(|entry, _| !entry.starts_with(path));
        self.executables.retain(|entry| !entry.starts_with(path));
        Ok(())
    }

    pub(super) fn rename(
        &mut self,
        from: &WorkspacePath,
        to: &WorkspacePath,
        replace: Replace,
    ) -> Result<(), Faults> {
        let over = replace != Replace::Never;
        let files = self.missing(to).saturating_sub(1);
        let mut faults = self.over_limit(files, 0);
        faults.extend(self.denial_with_all_below(from, true));
        if self.is_denied(to) {
            faults.insert(Fault::Denied);
        }
        if self.is_denied(from) {
            return Err(faults);
        }
        let moves_folder = self.is_folder(from);
        if from.is_top() {
            faults.insert(Fault::Invalid);
        } else if !self.entries.contains_key(from) {
            faults.insert(self.nothing_at(from));
        }
        if moves_folder && from != to && to.starts_with(from) {
            faults.insert(Fault::Invalid);
        }
        // What is at a denied path is not told.
        if !self.is_denied(to) {
            if self.is_below_a_file(to) {
                faults.insert(Fault::NotADirectory);
            } else if self.is_folder(to) || self.entries.contains_key(to) {
                if !over || moves_folder || to.is_top() {
                    faults.insert(Fault::AlreadyExists);
                }
                if over && !moves_folder && self.is_folder(to) {
                    faults.insert(Fault::NotAFile);
                }
            }
            let is_there = self.entries.contains_key(to) || self.is_folder(to);
            let is_refused =
                self.is_folder(to) || self.is_below_a_file(to) || (moves_folder && is_there);
            if over && !is_refused && replace.precondition().check(to, self.version(to)).is_err() {
                faults.insert(Fault::Conflict(self.version(to)));
            }
        }
        refuse(faults)?;
        if from == to {
            return Ok(());
        }
        self.use_up(files, 0);
        self.make_folders(to);
        self.executables.remove(to);
        let executables = std::mem::take(&mut self.executables);
        let mut moved = Entries::new();
        for (entry, content) in std::mem::take(&mut self.entries) {
            let is_moved = entry.starts_with(from);
            let rest = is_moved.then(|| entry.relative().strip_prefix(from.relative()).unwrap());
            let rest = rest.map(|rest| rest.trim_start_matches('/').to_owned());
            let is_executable = executables.contains(&entry);
            let at = match rest.as_deref() {
                None => entry,
                Some("") => to.clone(),
                Some(rest) => to.join(rest).unwrap(),
            };
            self.executables.extend(is_executable.then(|| at.clone()));
            // What moves comes over what was there, in whichever order they are met.
            if rest.is_some() || !moved.contains_key(&at) {
                moved.insert(at, content);
            }
        }
        self.entries = moved;
        Ok(())
    }

    pub(super) fn create_dir(&mut self, path: &WorkspacePath) -> Result<(), Faults> {
        let files = self.missing(path);
        let mut faults = self.over_limit(files, 0);
        if self.is_denied(path) {
            faults.insert(Fault::Denied);
            return Err(faults);
        }
        if self.file(path).is_some() || self.is_below_a_file(path) {
            faults.insert(Fault::NotADirectory);
        }
        refuse(faults)?;
        self.use_up(files, 0);
        self.make_folders(path);
        if !path.is_top() {
            self.entries.entry(path.clone()).or_insert(None);
        }
        Ok(())
    }

    pub(super) fn is_below_a_file(&self, path: &WorkspacePath) -> bool {
        above(path).any(|folder| self.file(&folder).is_some())
    }

    /// What is wrong with looking for `path`, where nothing is.
    pub(super) fn nothing_at(&self, path: &WorkspacePath) -> Fault {
        if self.is_below_a_file(path) {
            Fault::NotADirectory
        } else {
            Fault::NotFound
        }
    }

    fn make_folders(&mut self, path: &WorkspacePath) {
        for folder in above(path).filter(|folder| !folder.is_top()) {
            self.entries.entry(folder).or_insert(None);
        }
    }

    /// Whether a policy refuses the path, or something below it that would go with it.
    fn denial_with_all_below(&self, path: &WorkspacePath, all: bool) -> Faults {
        let is_denied = self.is_denied(path)
            || (all && self.below(path).iter().any(|entry| self.is_denied(entry)));
        is_denied.then_some(Fault::Denied).into_iter().collect()
    }

    /// How many entries would be made for `path`.
    fn missing(&self, path: &WorkspacePath) -> u64 {
        if self.is_denied(path) || self.is_below_a_file(path) {
            return 0;
        }
        let on_the_way = above(path).chain([path.clone()]);
        let is_missing =
            |entry: &WorkspacePath| !entry.is_top() && !self.entries.contains_key(entry);
        on_the_way.filter(is_missing).count() as u64
    }

    fn over_limit(&self, files: u64, bytes: u64) -> Faults {
        let exceeds = |used: u64, more: u64, limit: Option<u64>| {
            more > 0 && limit.is_some_and(|limit| used + more > limit)
        };
        let is_over = exceeds(self.files, files, self.rules.files)
            || exceeds(self.bytes, bytes, self.rules.total_bytes);
        is_over.then_some(Fault::Limit).into_iter().collect()
    }

    fn use_up(&mut self, files: u64, bytes: u64) {
        if self.rules.files.is_some() {
            self.files += files;
        }
        self.bytes += bytes;
    }
}

/// The folders above `path`, its mount's top included.
fn above(path: &WorkspacePath) -> impl Iterator<Item = WorkspacePath> + use<> {
    std::iter::successors(path.parent(), WorkspacePath::parent)
}

fn refuse(faults: Faults) -> Result<(), Faults> {
    if faults.is_empty() {
        Ok(())
    } else {
        Err(faults)
    }
}
