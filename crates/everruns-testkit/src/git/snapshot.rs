use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use everruns_core::file_system::ContentVersion;

/// Below `.git`: what everruns may add. Objects may be added too, but none may change or go.
const OURS: [&str; 5] = [
    "refs/heads/everruns",
    "refs/everruns",
    "logs/refs/heads/everruns",
    "logs/refs/everruns",
    "worktrees",
];

#[derive(Clone, Debug, PartialEq, Eq)]
enum Entry {
    Folder(u32),
    File(u32, ContentVersion),
    Link(PathBuf),
    Special(u32),
}

/// Every byte of a user's repository: its config, index, HEAD, branches, tags, reflogs, hooks, objects and
/// working tree, with modes. What everruns may add is left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepositorySnapshot {
    entries: BTreeMap<PathBuf, Entry>,
    packed_refs: Vec<String>,
}

impl RepositorySnapshot {
    /// Takes a snapshot of the repository whose working folder is `folder`.
    ///
    /// # Errors
    /// When something in it cannot be read.
    pub fn of(folder: &Path) -> io::Result<Self> {
        let mut snapshot = Self {
            entries: BTreeMap::new(),
            packed_refs: packed_refs(folder)?,
        };
        snapshot.walk(folder, Path::new(""))?;
        Ok(snapshot)
    }

    fn walk(&mut self, top: &Path, below: &Path) -> io::Result<()> {
        for item in std::fs::read_dir(top.join(below))? {
            let relative = below.join(item?.file_name());
            if is_left_out(&relative) {
                continue;
            }
            let path = top.join(&relative);
            let metadata = path.symlink_metadata()?;
            let kind = metadata.file_type();
            let entry = if kind.is_dir() {
                self.walk(top, &relative)?;
                Entry::Folder(metadata.mode())
            } else if kind.is_file() {
                Entry::File(metadata.mode(), ContentVersion::of(&std::fs::read(&path)?))
            } else if kind.is_symlink() {
                Entry::Link(std::fs::read_link(&path)?)
            } else {
                Entry::Special(metadata.mode())
            };
            self.entries.insert(relative, entry);
        }
        Ok(())
    }

    /// What differs in `after`, one line a difference; empty when the user's repository is as it was.
    pub fn differences(&self, after: &Self) -> Vec<String> {
        let mut found = Vec::new();
        for (path, before) in &self.entries {
            match after.entries.get(path) {
                None => found.push(format!("{} is gone", path.display())),
                Some(now) if now != before => {
                    found.push(format!("{} changed: {before:?} to {now:?}", path.display()));
                }
                Some(_) => {}
            }
        }
        let added = after
            .entries
            .keys()
            .filter(|path| !self.entries.contains_key(*path));
        let added = added.filter(|path| !path.starts_with(".git/objects"));
        found.extend(added.map(|path| format!("{} is new", path.display())));
        if self.packed_refs != after.packed_refs {
            found.push(format!(
                ".git/packed-refs: {:?} to {:?}",
                self.packed_refs, after.packed_refs
            ));
        }
        found
    }

    /// Panics unless `after` is the same; proves H30.
    ///
    /// # Panics
    /// See above; the message lists every difference.
    pub fn assert_unchanged(&self, after: &Self) {
        let differences = self.differences(after);
        let mut text = String::new();
        for difference in &differences {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "  {difference}");
        }
        assert!(
            differences.is_empty(),
            "the user's repository was changed:\n{text}"
        );
    }
}

fn is_left_out(relative: &Path) -> bool {
    relative.strip_prefix(".git").is_ok_and(|inside| {
        inside == Path::new("packed-refs") || OURS.iter().any(|ours| inside.starts_with(ours))
    })
}

/// The lines of `packed-refs` that name other refs than ours.
fn packed_refs(folder: &Path) -> io::Result<Vec<String>> {
    let bytes = match std::fs::read(folder.join(".git/packed-refs")) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let lines = bytes
        .split(|byte| *byte == b'\n')
        .map(std::ffi::OsStr::from_bytes);
    let texts = lines.map(|line| line.to_string_lossy().into_owned());
    let users = |line: &String| {
        let ours = line.contains(" refs/heads/everruns/") || line.contains(" refs/everruns/");
        !ours && !line.is_empty() && !line.starts_with('#')
    };
    Ok(texts.filter(users).collect())
}
