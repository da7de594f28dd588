//! Submodules whose repositories would go with a head, and work in them that is nowhere else.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use gix::ObjectId;
use gix::bstr::{BStr, BString};
use gix::index::entry::Mode;

use super::handle::Handle;
use super::submodule_tips::{Tips, leads_to_all};
use crate::error::{GitStep as _, Result};
use crate::files::Files;
use crate::names::path_text;
use crate::scan::{DEEPEST, SubmodulePlace, open_git_dir, open_submodule};

/// The submodules that would go with the head of `handle`, opened as `worktree` if its folder is there, and hold
/// commits of which it can't be said that they are elsewhere too.
///
/// Git keeps the repository of a linked worktree's submodule with the worktree's record, so it goes when that does,
/// also when the index has forgotten the submodule. One that somebody made in its place goes with the files.
pub(super) fn with_own_commits(
    handle: &Handle,
    worktree: Option<&gix::Repository>,
) -> Result<Vec<String>> {
    let opened;
    let shared = if let Some(worktree) = worktree {
        worktree
    } else {
        opened = handle.context.repository(&handle.workspace)?;
        &opened
    };
    let mut look = Look {
        shared,
        going: [handle.worktree().folder, handle.worktree().record].map(real),
        base: &handle.record.base,
        recorded: None,
        seen: HashSet::new(),
        paths: Vec::new(),
    };
    if let Some(worktree) = worktree {
        look.in_place(worktree, BStr::new(""), 0)?;
    }
    look.in_record(handle.worktree().record.join("modules"));
    Ok(look.paths)
}

/// Looks at one repository after another.
struct Look<'a> {
    /// A repository with the objects that all worktrees share.
    shared: &'a gix::Repository,
    /// The folders that go with the head.
    going: [PathBuf; 2],
    /// The commit that the head started from.
    base: &'a str,
    /// The commits of submodules that `base` records, once they were asked for.
    recorded: Option<HashSet<ObjectId>>,
    /// The Git directories that were looked at.
    seen: HashSet<PathBuf>,
    /// What was found.
    paths: Vec<String>,
}

impl Look<'_> {
    /// Looks at the submodules that the index of `worktree`, itself at `above`, knows, and at theirs.
    fn in_place(&mut self, worktree: &gix::Repository, above: &BStr, depth: usize) -> Result<()> {
        let index = worktree.index_or_empty().git("read the index")?;
        let Some(folder) = worktree.workdir() else {
            return Ok(());
        };
        let mut files = None;
        for entry in index.entries() {
            if entry.mode != Mode::COMMIT {
                continue;
            }
            if files.is_none() {
                files = Some(Files::open(folder)?);
            }
            let Some(files) = &files else { continue };
            let path = entry.path(&index);
            let mut whole = BString::from(above.to_vec());
            whole.extend_from_slice(path);
            let submodule = match open_submodule(worktree, files, path) {
                SubmodulePlace::Nothing => continue,
                SubmodulePlace::Unusable(_) => {
                    self.paths.push(path_text(whole.as_ref()));
                    continue;
                }
                SubmodulePlace::Repository(submodule) => submodule,
            };
            if !self.is_new(submodule.git_dir()) {
                continue;
            }
            let mut inside = whole.clone();
            inside.push(b'/');
            if depth >= DEEPEST
                || !self.is_kept(&submodule)
                || self
                    .in_place(&submodule, inside.as_ref(), depth + 1)
                    .is_err()
            {
                self.paths.push(path_text(whole.as_ref()));
            }
        }
        Ok(())
    }

    /// Looks at all repositories below `modules`, those of submodules in submodules too.
    fn in_record(&mut self, modules: PathBuf) {
        let mut folders = vec![modules];
        while let Some(folder) = folders.pop() {
            let is_there = |name: &str| fs::symlink_metadata(folder.join(name)).is_ok();
            if is_there("HEAD") || is_there("objects") {
                if self.is_new(&folder) {
                    let opened = open_git_dir(self.shared, &folder);
                    if !opened.is_ok_and(|submodule| self.is_kept(&submodule)) {
                        self.paths.push(folder.display().to_string());
                    }
                }
                folders.push(folder.join("modules"));
                continue;
            }
            match below(&folder) {
                Ok(below) => folders.extend(below),
                Err(_) => self.paths.push(folder.display().to_string()),
            }
        }
    }

    /// Whether the Git directory has not been looked at before.
    fn is_new(&mut self, git_dir: &Path) -> bool {
        self.seen.insert(real(git_dir.to_owned()))
    }

    /// Whether everything in `submodule` is in a branch of a remote, or came from outside as a commit that the head's
    /// own start records.
    ///
    /// What the head records now proves nothing: it may be a commit that was made in this very submodule.
    fn is_kept(&mut self, submodule: &gix::Repository) -> bool {
        let Some(Tips { mut own, elsewhere }) = Tips::of(submodule, &self.going) else {
            return false;
        };
        if own.is_empty() || leads_to_all(submodule, &elsewhere, &mut own) {
            return true;
        }
        let recorded = self.recorded().iter().copied();
        let recorded: Vec<ObjectId> = recorded.filter(|id| submodule.has_object(id)).collect();
        leads_to_all(submodule, &recorded, &mut own)
    }

    /// The commits of submodules that the head's start records; none where that can't be read.
    fn recorded(&mut self) -> &HashSet<ObjectId> {
        let (shared, base) = (self.shared, self.base);
        self.recorded.get_or_insert_with(|| {
            recorded_by(shared, base).unwrap_or_else(|failure| {
                tracing::debug!(error = %failure, "what the head started from can't be read");
                HashSet::new()
            })
        })
    }
}

/// The commits of submodules that the commit, or the tree, `base` records.
fn recorded_by(repository: &gix::Repository, base: &str) -> Result<HashSet<ObjectId>> {
    let step = "read what the head started from";
    let base = ObjectId::from_hex(base.as_bytes()).git(step)?;
    let tree = repository.find_object(base).git(step)?;
    let tree = tree.peel_to_tree().git(step)?.id;
    let index = repository.index_from_tree(&tree).git(step)?;
    let submodules = index.entries().iter();
    let submodules = submodules.filter(|entry| entry.mode == Mode::COMMIT);
    Ok(submodules.map(|entry| entry.id).collect())
}

/// The path without links, of what is there.
fn real(path: PathBuf) -> PathBuf {
    fs::canonicalize(&path).unwrap_or(path)
}

/// The folders in `folder`, no links among them; none if it is gone.
pub(super) fn below(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(failure) if failure.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(failure) => return Err(failure),
    };
    let mut folders = Vec::new();
    for entry in entries {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            folders.push(entry.path());
        }
    }
    Ok(folders)
}
