//! Which ignored files there are.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use gix::bstr::{BStr, BString, ByteSlice as _};
use gix::dir::entry::{Kind as Found, Status};
use gix::dir::walk::EmissionMode;
use rustix::fs::FileType;

use super::patterns::Patterns;
use crate::error::{GitStep as _, Result};
use crate::files::Files;

/// How many ignored entries are looked at.
pub(super) const MOST_ENTRIES: usize = 200_000;

/// A path that is ignored and asked for.
#[derive(Debug)]
pub(super) struct Candidate {
    pub(super) path: BString,
    pub(super) kind: Kind,
}

/// What is at such a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    File,
    Link,
    Repository,
    Special,
    Name,
}

/// What was found.
pub(super) struct Candidates {
    /// In the order of paths.
    pub(super) candidates: Vec<Candidate>,
    /// Whether there is more.
    pub(super) cut: bool,
}

/// Everything that Git ignores in the working tree of `source` and that `patterns` ask for.
pub(super) fn candidates(source: &gix::Repository, patterns: &Patterns) -> Result<Candidates> {
    let step = "look for ignored files";
    let index = source.index_or_empty().git(step)?;
    let never = Arc::new(AtomicBool::new(false));
    let options = source
        .dirwalk_options()
        .git(step)?
        .emit_untracked(EmissionMode::Matching)
        .emit_ignored(Some(EmissionMode::CollapseDirectory));
    let entries = source
        .dirwalk_iter(index, None::<BString>, never.into(), options)
        .git(step)?;
    let mut walk = Walk {
        files: Files::open(source.workdir().unwrap_or_else(|| source.git_dir()))?,
        patterns,
        found: BTreeMap::new(),
        seen: 0,
    };
    for entry in entries {
        let entry = entry.git(step)?.entry;
        if !matches!(entry.status, Status::Ignored(_)) {
            continue;
        }
        let path = entry.rela_path.as_bstr();
        match entry.disk_kind {
            Some(Found::Directory) => walk.folder(path)?,
            Some(Found::Repository) => walk.note(path, Kind::Repository),
            Some(Found::Symlink) => walk.note(path, Kind::Link),
            Some(Found::File) => walk.note(path, Kind::File),
            Some(Found::Untrackable) => walk.note(path, Kind::Special),
            None => {}
        }
    }
    let candidates = walk.found.into_iter();
    Ok(Candidates {
        candidates: candidates
            .map(|(path, kind)| Candidate { path, kind })
            .collect(),
        cut: walk.seen > MOST_ENTRIES,
    })
}

struct Walk<'a> {
    files: Files,
    patterns: &'a Patterns,
    found: BTreeMap<BString, Kind>,
    seen: usize,
}

impl Walk<'_> {
    /// Notes what is at `path` if it is asked for.
    fn note(&mut self, path: &BStr, kind: Kind) {
        self.seen += 1;
        if self.seen > MOST_ENTRIES || !self.patterns.select(path, kind == Kind::Repository) {
            return;
        }
        let named_like_git = path
            .split_str("/")
            .any(|name| everruns_core::path::is_git_internal_name(&name.to_str_lossy()));
        let kind = if named_like_git { Kind::Name } else { kind };
        self.found.insert(path.to_owned(), kind);
    }

    /// Notes what is asked for in the ignored folder at `path`, at any depth.
    fn folder(&mut self, path: &BStr) -> Result<()> {
        let mut waiting = vec![path.to_owned()];
        while let Some(folder) = waiting.pop() {
            if self.seen > MOST_ENTRIES {
                break;
            }
            let names = self.files.list(folder.as_bstr())?;
            if names.iter().any(|(name, _)| name == ".git") {
                self.note(folder.as_bstr(), Kind::Repository);
                continue;
            }
            for (name, is_folder) in names {
                let mut below = folder.clone();
                below.push(b'/');
                below.extend_from_slice(&name);
                if is_folder {
                    self.seen += 1;
                    waiting.push(below);
                    continue;
                }
                let stat = self.files.stat(below.as_bstr())?;
                let kind = match stat.map(|stat| FileType::from_raw_mode(stat.st_mode)) {
                    Some(FileType::RegularFile) => Kind::File,
                    Some(FileType::Symlink) => Kind::Link,
                    _ => Kind::Special,
                };
                self.note(below.as_bstr(), kind);
            }
        }
        Ok(())
    }
}
