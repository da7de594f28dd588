//! The state of a worktree of which is known where alone it can have changed.

use std::collections::{BTreeSet, HashSet};

use gix::ObjectId;
use gix::bstr::{BStr, BString, ByteSlice as _};
use gix::index::entry::Mode;
use gix::objs::tree::EntryKind;
use gix::worktree::stack::state::ignore::Source;
use rustix::fs::FileType;

use super::capture::{Capture, Captured};
use super::learned::{Learned, TreeEntry};
use crate::error::{GitError, GitStep as _, Result};
use crate::files::Files;
use crate::objects::{Edits, Material};
use crate::state::{MergeNotes, PickNotes};
use crate::threads::share_out;
use crate::worktree::{Entry, Keep, read_each};

/// Files that say how other files are to be taken.
const RULES: [&[u8]; 3] = [b".gitignore", b".gitattributes", b".gitmodules"];

const STEP: &str = "look at the changed files";

/// How many paths are worth a thread.
const PATHS_A_THREAD: usize = 16;

/// The state of `worktree` when it is as `known`, apart from the files at `paths`. `None` where only a look at
/// everything can tell.
///
/// The commit and the index of `known` are those of now.
pub(crate) fn capture_paths(
    worktree: &gix::Repository,
    known: &Capture,
    paths: &[BString],
) -> Result<Option<Capture>> {
    let (known, mut differing, mut learned) =
        (&known.state, known.changed.clone(), known.learned.clone());
    let config = worktree.config_snapshot();
    let is_set = |key| config.boolean(key).unwrap_or(false);
    let is_merging = MergeNotes::read(worktree.git_dir())?.is_some();
    if is_merging
        || PickNotes::are_in(worktree.git_dir())
        || !known.manifest.is_empty()
        || is_set("core.ignoreCase")
        || is_set("core.sparseCheckout")
    {
        return Ok(None);
    }
    let looked = share_out(
        paths,
        PATHS_A_THREAD,
        || worktree.clone(),
        |own, paths| Look::new(&own, known, &learned)?.at_all(paths),
    )?;
    let Some(parts) = looked.into_iter().collect::<Option<Vec<_>>>() else {
        return Ok(None);
    };
    let mut seen = Vec::with_capacity(paths.len());
    for (part, folders) in parts {
        seen.extend(part);
        learned.folders.extend(folders);
    }
    let mut edits = Edits::default();
    let mut changed = Vec::new();
    for (path, seen) in paths.iter().zip(&seen) {
        let seen: &Seen = seen;
        if !learned.entries.contains_key(path) {
            let entries = (seen.committed, seen.indexed);
            learned.entries.insert(path.clone(), entries);
        }
        match seen.now {
            Now::Nothing if seen.known.is_some() => {
                edits.removed.push(path.clone());
                seen.note(path.as_bstr(), None, &mut differing);
            }
            Now::Nothing | Now::Ignored => {}
            Now::File => changed.push((path.as_bstr(), seen)),
        }
    }
    let read = read_each(worktree, &changed, Keep::Stored, |reader, (path, seen)| {
        let was_executable = matches!(seen.known, Some((EntryKind::BlobExecutable, _)));
        reader.file(path, was_executable, &|id| seen.has(id))
    })?;
    let mut new_paths = HashSet::new();
    for ((path, seen), entry) in changed.iter().zip(read) {
        match entry {
            Entry::Blob(kind, id) => {
                if seen.known.or(seen.indexed).or(seen.committed).is_none() {
                    new_paths.insert(id);
                }
                if seen.known != Some((kind, id)) {
                    edits.upsert(path, kind, id);
                }
                seen.note(path, Some((kind, id)), &mut differing);
            }
            Entry::Gone | Entry::Same | Entry::Uncaptured(_) => return Ok(None),
        }
    }
    let mut material = Material::default();
    let state = Captured {
        files: edits.apply_held(worktree, known.files, &mut material)?,
        ..known.clone()
    };
    Ok(Some(Capture {
        state,
        changed: differing,
        material,
        new_paths,
        is_whole: false,
        learned,
    }))
}

/// What is at a path now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Now {
    Nothing,
    File,
    /// A file that a checkpoint doesn't hold.
    Ignored,
}

/// What is at a path, and what was.
#[derive(Debug, Clone, Copy)]
struct Seen {
    now: Now,
    /// In the files that are known.
    known: TreeEntry,
    committed: TreeEntry,
    indexed: TreeEntry,
}

impl Seen {
    /// Whether `id` is what was here before.
    fn has(&self, id: ObjectId) -> bool {
        let before = [self.known, self.committed, self.indexed];
        before.into_iter().flatten().any(|(_, known)| known == id)
    }

    /// Notes in `differing` whether `path`, whose file becomes `now`, is other than in the commit.
    fn note(&self, path: &BStr, now: TreeEntry, differing: &mut BTreeSet<BString>) {
        if now == self.committed && self.indexed == self.committed {
            differing.remove(path);
        } else {
            differing.insert(path.to_owned());
        }
    }
}

/// Looks at single paths.
struct Look<'repo> {
    worktree: &'repo gix::Repository,
    files: Files,
    state: &'repo Captured,
    learned: &'repo Learned,
    known: gix::Tree<'repo>,
    /// The trees of the commit and of the index, once they are needed.
    committed: Option<gix::Tree<'repo>>,
    indexed: Option<gix::Tree<'repo>>,
    ignores: gix::AttributeStack<'repo>,
    /// Folders that are nothing but folders.
    plain: HashSet<BString>,
    /// Those in the index, as far as that was looked up.
    folders: Vec<BString>,
}

impl<'repo> Look<'repo> {
    fn new(
        worktree: &'repo gix::Repository,
        state: &'repo Captured,
        learned: &'repo Learned,
    ) -> Result<Self> {
        let folder = worktree.workdir().ok_or_else(|| GitError::Unsupported {
            path: worktree.git_dir().to_owned(),
            reason: "its record names no folder",
        })?;
        let nothing = gix::index::State::new(worktree.object_hash());
        let source = Source::WorktreeThenIdMappingIfNotSkipped;
        Ok(Self {
            worktree,
            files: Files::open(folder)?,
            state,
            learned,
            known: tree(worktree, state.files)?,
            committed: None,
            indexed: None,
            ignores: worktree.excludes(&nothing, None, source).git(STEP)?,
            plain: HashSet::new(),
            folders: Vec::new(),
        })
    }

    /// What is at each of `paths`, and which folders are learned of; `None` if one may concern more than itself.
    fn at_all(mut self, paths: &[BString]) -> Result<Option<(Vec<Seen>, Vec<BString>)>> {
        let mut all = Vec::with_capacity(paths.len());
        for path in paths {
            match self.at(path.as_bstr()) {
                Ok(Some(seen)) => all.push(seen),
                Ok(None) => return Ok(None),
                Err(failure) if failure.is_denied() => return Ok(None),
                Err(failure) => return Err(failure),
            }
        }
        Ok(Some((all, self.folders)))
    }

    /// The entries of the commit and of the index at `path`.
    fn recorded(&mut self, path: &BStr) -> Result<(TreeEntry, TreeEntry)> {
        if let Some(entries) = self.learned.entries.get(path) {
            return Ok(*entries);
        }
        let state = self.state;
        let committed = entry(
            loaded(&mut self.committed, self.worktree, state.head_tree)?,
            path,
        )?;
        let indexed = if state.index == state.head_tree {
            committed
        } else {
            self.indexed(path)?
        };
        Ok((committed, indexed))
    }

    fn indexed(&mut self, path: &BStr) -> Result<TreeEntry> {
        let indexed = loaded(&mut self.indexed, self.worktree, self.state.index)?;
        entry(indexed, path)
    }

    fn at(&mut self, path: &BStr) -> Result<Option<Seen>> {
        let name = path.rsplit_str("/").next().unwrap_or_default();
        // A backslash may stand for a byte that isn't text.
        if path.is_empty() || path.contains(&b'\\') || RULES.contains(&name) {
            return Ok(None);
        }
        let known = entry(&self.known, path)?;
        let is_file = |kind| matches!(kind, EntryKind::Blob | EntryKind::BlobExecutable);
        if known.is_some_and(|(kind, _)| !is_file(kind)) || !self.is_below_plain_folders(path)? {
            return Ok(None);
        }
        let (committed, indexed) = self.recorded(path)?;
        let now = match self.files.stat(path)? {
            None => Now::Nothing,
            // What is written through a link changes elsewhere.
            Some(stat) if !FileType::from_raw_mode(stat.st_mode).is_file() => return Ok(None),
            Some(_) if indexed.is_some() => Now::File,
            Some(_) => {
                let found = self.ignores.at_entry(path, Some(Mode::FILE)).git(STEP)?;
                if found.is_excluded() {
                    Now::Ignored
                } else {
                    Now::File
                }
            }
        };
        Ok(Some(Seen {
            now,
            known,
            committed,
            indexed,
        }))
    }

    /// Whether all folders above `path` are folders, on disk as well as in what is known, and hold no repository.
    fn is_below_plain_folders(&mut self, path: &BStr) -> Result<bool> {
        for at in path.find_iter(b"/") {
            let folder = path[..at].as_bstr();
            if self.plain.contains(folder) {
                continue;
            }
            let is_other =
                |entry: TreeEntry| entry.is_some_and(|(kind, _)| kind != EntryKind::Tree);
            if is_other(entry(&self.known, folder)?) {
                return Ok(false);
            }
            if !self.learned.folders.contains(folder) {
                if is_other(self.indexed(folder)?) {
                    return Ok(false);
                }
                self.folders.push(folder.to_owned());
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
}

fn tree(worktree: &gix::Repository, id: ObjectId) -> Result<gix::Tree<'_>> {
    let object = worktree.find_object(id).git(STEP)?;
    object.try_into_tree().git(STEP)
}

/// The tree `id`, which is read the first time.
fn loaded<'a, 'repo>(
    kept: &'a mut Option<gix::Tree<'repo>>,
    worktree: &'repo gix::Repository,
    id: ObjectId,
) -> Result<&'a gix::Tree<'repo>> {
    match kept {
        Some(tree) => Ok(tree),
        unread => Ok(unread.insert(tree(worktree, id)?)),
    }
}

/// The entry at `path` of `tree`.
fn entry(tree: &gix::Tree<'_>, path: &BStr) -> Result<TreeEntry> {
    let entry = tree.lookup_entry(path.split_str("/")).git(STEP)?;
    Ok(entry.map(|entry| (entry.mode().kind(), entry.object_id())))
}
