//! The state of a worktree of which is known where alone it can have changed.

use std::collections::{BTreeSet, HashSet};

use gix::ObjectId;
use gix::bstr::{BStr, BString, ByteSlice as _};
use gix::index::entry::Mode;
use gix::objs::tree::EntryKind;
use gix::worktree::stack::state::ignore::Source;
use rustix::fs::FileType;

use super::capture::{Capture, Captured};
use crate::error::{GitError, GitStep as _, Result};
use crate::files::Files;
use crate::objects::Edits;
use crate::worktree::{Entry, Keep, read_each};

/// Files that say how other files are to be taken.
const RULES: [&[u8]; 3] = [b".gitignore", b".gitattributes", b".gitmodules"];

const STEP: &str = "look at the changed files";

/// The state of `worktree` when it is as `known`, apart from the files at `paths`. `None` where only a look at
/// everything can tell.
///
/// The commit and the index of `known` are those of now.
pub(crate) fn capture_paths(
    worktree: &gix::Repository,
    known: &Capture,
    paths: &[BString],
) -> Result<Option<Capture>> {
    let (known, mut differing) = (&known.state, known.changed.clone());
    let config = worktree.config_snapshot();
    let is_set = |key| config.boolean(key).unwrap_or(false);
    if !known.manifest.is_empty() || is_set("core.ignoreCase") || is_set("core.sparseCheckout") {
        return Ok(None);
    }
    let mut look = Look::new(worktree, known)?;
    let nothing = gix::index::State::new(worktree.object_hash());
    let mut ignores = worktree
        .excludes(&nothing, None, Source::WorktreeThenIdMappingIfNotSkipped)
        .git(STEP)?;
    let mut edits = Edits::default();
    let mut changed = Vec::new();
    for path in paths {
        let path = path.as_bstr();
        let Some(now) = look.at(path)? else {
            return Ok(None);
        };
        let before = look.known(path)?;
        if now == Now::Nothing {
            if before.is_some() {
                edits.removed.push(path.to_owned());
                look.note(path, None, &mut differing)?;
            }
            continue;
        }
        let mut is_ignored = || -> Result<bool> {
            let found = ignores.at_entry(path, Some(Mode::FILE)).git(STEP)?;
            Ok(found.is_excluded())
        };
        if look.is_tracked(path)? || !is_ignored()? {
            changed.push((path, before == Some(EntryKind::BlobExecutable)));
        }
    }
    let read = read_each(
        worktree,
        &changed,
        Keep::Stored,
        |reader, (path, was_executable)| reader.file(path, *was_executable),
    )?;
    for ((path, _), entry) in changed.iter().zip(read) {
        match entry {
            Entry::Blob(kind, id) => {
                edits.upsert(path, kind, id);
                look.note(path, Some((kind, id)), &mut differing)?;
            }
            Entry::Gone | Entry::Same | Entry::Uncaptured(_) => return Ok(None),
        }
    }
    let state = Captured {
        files: edits.apply(worktree, known.files)?,
        ..known.clone()
    };
    Ok(Some(Capture {
        state,
        changed: differing,
    }))
}

/// What is at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Now {
    Nothing,
    File,
}

/// Looks at single paths.
struct Look<'repo> {
    files: Files,
    head: gix::Tree<'repo>,
    known: gix::Tree<'repo>,
    tracked: gix::Tree<'repo>,
    /// Folders that are nothing but folders.
    plain: HashSet<BString>,
}

impl<'repo> Look<'repo> {
    fn new(worktree: &'repo gix::Repository, known: &Captured) -> Result<Self> {
        let folder = worktree.workdir().ok_or_else(|| GitError::Unsupported {
            path: worktree.git_dir().to_owned(),
            reason: "its record names no folder",
        })?;
        let tree = |id| -> Result<gix::Tree<'repo>> {
            let object = worktree.find_object(id).git(STEP)?;
            object.try_into_tree().git(STEP)
        };
        Ok(Self {
            files: Files::open(folder)?,
            head: tree(known.head_tree)?,
            known: tree(known.files)?,
            tracked: tree(known.index)?,
            plain: HashSet::new(),
        })
    }

    /// What is at `path`; `None` if it may concern more than itself.
    fn at(&mut self, path: &BStr) -> Result<Option<Now>> {
        let name = path.rsplit_str("/").next().unwrap_or_default();
        // A backslash may stand for a byte that isn't text.
        if path.is_empty() || path.contains(&b'\\') || RULES.contains(&name) {
            return Ok(None);
        }
        if !self.is_below_plain_folders(path)?
            || matches!(
                self.known(path)?,
                Some(EntryKind::Tree | EntryKind::Commit | EntryKind::Link)
            )
        {
            return Ok(None);
        }
        let Some(stat) = self.files.stat(path)? else {
            return Ok(Some(Now::Nothing));
        };
        // What is written through a link changes elsewhere.
        let is_file = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
        Ok(is_file.then_some(Now::File))
    }

    /// Whether all folders above `path` are folders, on disk as well as in what is known, and hold no repository.
    fn is_below_plain_folders(&mut self, path: &BStr) -> Result<bool> {
        for at in path.find_iter(b"/") {
            let folder = path[..at].as_bstr();
            if self.plain.contains(folder) {
                continue;
            }
            let is_folder = |kind| matches!(kind, None | Some(EntryKind::Tree));
            if !is_folder(self.known(folder)?) || !is_folder(kind(&self.tracked, folder)?) {
                return Ok(false);
            }
            let Some(stat) = self.files.stat(folder)? else {
                // Nothing is below it either.
                continue;
            };
            let mut repository = folder.to_owned();
            repository.extend_from_slice(b"/.git");
            if FileType::from_raw_mode(stat.st_mode) != FileType::Directory
                || self.files.stat(repository.as_bstr())?.is_some()
            {
                return Ok(false);
            }
            self.plain.insert(folder.to_owned());
        }
        Ok(true)
    }

    /// The kind of the entry at `path` in the files that are known.
    fn known(&self, path: &BStr) -> Result<Option<EntryKind>> {
        kind(&self.known, path)
    }

    /// Whether the index has `path`.
    fn is_tracked(&self, path: &BStr) -> Result<bool> {
        Ok(kind(&self.tracked, path)?.is_some())
    }

    /// Notes in `differing` whether `path`, whose file becomes `now`, is other than in the commit.
    fn note(
        &self,
        path: &BStr,
        now: Option<(EntryKind, ObjectId)>,
        differing: &mut BTreeSet<BString>,
    ) -> Result<()> {
        let committed = entry(&self.head, path)?;
        if now == committed && entry(&self.tracked, path)? == committed {
            differing.remove(path);
        } else {
            differing.insert(path.to_owned());
        }
        Ok(())
    }
}

/// The kind of the entry at `path` of `tree`.
fn kind(tree: &gix::Tree<'_>, path: &BStr) -> Result<Option<EntryKind>> {
    Ok(entry(tree, path)?.map(|(kind, _)| kind))
}

/// The entry at `path` of `tree`.
fn entry(tree: &gix::Tree<'_>, path: &BStr) -> Result<Option<(EntryKind, ObjectId)>> {
    let entry = tree.lookup_entry(path.split_str("/")).git(STEP)?;
    Ok(entry.map(|entry| (entry.mode().kind(), entry.object_id())))
}
