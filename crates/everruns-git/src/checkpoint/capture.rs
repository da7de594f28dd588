//! The state of a worktree as two trees and a manifest.

use gix::ObjectId;
use gix::bstr::{BStr, BString, ByteSlice as _};
use gix::dir::entry::Kind;
use gix::index::entry::{Flags, Mode, Stage};
use gix::objs::tree::EntryKind;
use gix::status::index_worktree::Item;
use gix::status::plumbing::index_as_worktree::{Change, EntryStatus};

use super::manifest::{Announced, Manifest, StageEntry, Uncaptured};
use crate::error::{GitError, GitStep as _, Result};
use crate::files::{Files, Found};
use crate::scan::{Renames, Scan, path_of, scan};
use crate::worktree::{conversion, store};

/// The state of a worktree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Captured {
    /// The commit that `HEAD` names; the null id for a branch that has none yet.
    pub(crate) head: ObjectId,
    /// That commit's tree.
    pub(crate) head_tree: ObjectId,
    /// The index as a tree.
    pub(crate) index: ObjectId,
    /// The files as a tree, untracked ones included, ignored ones not.
    pub(crate) files: ObjectId,
    /// What the trees can't say.
    pub(crate) manifest: Manifest,
}

impl Captured {
    /// The state of a worktree without files, on a branch without commits.
    pub(crate) fn nothing(hash: gix::hash::Kind) -> Self {
        let tree = ObjectId::empty_tree(hash);
        Self {
            head: hash.null(),
            head_tree: tree,
            index: tree,
            files: tree,
            manifest: Manifest::default(),
        }
    }

    /// The commit that `HEAD` names, if its branch has one.
    pub(crate) fn commit(&self) -> Option<ObjectId> {
        (!self.head.is_null()).then_some(self.head)
    }

    /// Whether the state is just the commit.
    pub(crate) fn is_clean(&self) -> bool {
        self.index == self.head_tree && self.files == self.head_tree && self.manifest.is_empty()
    }
}

/// Captures the state of `worktree`, writing what its repository doesn't hold yet as objects, and nothing else.
pub(crate) fn capture(worktree: &gix::Repository) -> Result<Captured> {
    let scan = scan(worktree, Renames::Off)?;
    let (head, head_tree) = head_of(worktree)?;
    let index = index_tree(worktree, head_tree, &scan)?;
    let mut manifest = Manifest::default();
    let files = files_tree(worktree, index, &scan, &mut manifest)?;
    Ok(Captured {
        head,
        head_tree,
        index,
        files,
        manifest,
    })
}

/// The commit that `HEAD` names and its tree; the null id and the empty tree for a branch without commits.
fn head_of(worktree: &gix::Repository) -> Result<(ObjectId, ObjectId)> {
    let step = "read HEAD";
    if worktree.head().git(step)?.is_unborn() {
        let hash = worktree.object_hash();
        return Ok((hash.null(), ObjectId::empty_tree(hash)));
    }
    let head = worktree.head_commit().git(step)?;
    let tree = head.tree_id().git(step)?.detach();
    Ok((head.id, tree))
}

/// The index as a tree: the commit's tree with what is staged.
fn index_tree(worktree: &gix::Repository, head_tree: ObjectId, scan: &Scan) -> Result<ObjectId> {
    use gix::diff::index::ChangeRef;
    if scan.staged.is_empty() {
        return Ok(head_tree);
    }
    let mut edits = Edits::default();
    for change in &scan.staged {
        let (path, _, mode, id) = change.fields();
        match change {
            ChangeRef::Deletion { .. } => edits.removed.push(path.to_owned()),
            _ => edits.upsert(path, kind_of(mode), id.to_owned()),
        }
    }
    edits.apply(worktree, head_tree)
}

/// The files as a tree: the index's tree with what differs from it.
fn files_tree(
    worktree: &gix::Repository,
    index_tree: ObjectId,
    scan: &Scan,
    manifest: &mut Manifest,
) -> Result<ObjectId> {
    if scan.unstaged.is_empty() {
        return Ok(index_tree);
    }
    let folder = worktree.workdir().ok_or_else(|| GitError::Unsupported {
        path: worktree.git_dir().to_owned(),
        reason: "its record names no folder",
    })?;
    let (pipeline, index) = conversion(worktree)?;
    let executable_bit = worktree
        .config_snapshot()
        .boolean("core.fileMode")
        .unwrap_or(true);
    let mut reader = Reader {
        worktree,
        files: Files::open(folder)?,
        pipeline,
        index,
        executable_bit,
    };
    let mut edits = Edits::default();
    for item in &scan.unstaged {
        let path = path_of(item);
        note(item, path, manifest);
        match reader.entry(item, path)? {
            Entry::Blob(kind, id) => edits.upsert(path, kind, id),
            Entry::Gone => edits.removed.push(path.to_owned()),
            Entry::Same => {}
            Entry::Uncaptured(why) => {
                if matches!(item, Item::Modification { .. }) {
                    edits.removed.push(path.to_owned());
                }
                manifest.uncaptured.push(Uncaptured {
                    path: path.to_owned(),
                    reason: why.reason().to_owned(),
                    holds_work: why != Why::Special,
                });
            }
        }
    }
    edits.apply(worktree, index_tree)
}

/// Notes in the manifest what the index says of `path` that no tree can.
fn note(item: &Item, path: &BStr, manifest: &mut Manifest) {
    let Item::Modification { entry, status, .. } = item else {
        return;
    };
    if let EntryStatus::Conflict { entries, .. } = status {
        for (stage, side) in (1_u8..).zip(entries.iter()) {
            let Some(side) = side else { continue };
            manifest.stages.push(StageEntry {
                path: path.to_owned(),
                stage,
                mode: side.mode.bits(),
                id: side.id,
            });
        }
    } else if entry.flags.contains(Flags::INTENT_TO_ADD) && entry.stage() == Stage::Unconflicted {
        manifest.announced.push(Announced {
            path: path.to_owned(),
            mode: entry.mode.bits(),
        });
    }
}

/// What a path becomes in the tree of the files.
enum Entry {
    Blob(EntryKind, ObjectId),
    Gone,
    Same,
    Uncaptured(Why),
}

/// Why something is in no tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Why {
    Repository,
    Special,
    TooLarge,
    Name,
}

impl Why {
    fn reason(self) -> &'static str {
        match self {
            Self::Repository => "a repository of its own",
            Self::Special => "a pipe, socket or device",
            Self::TooLarge => "a file of more than 1 GiB",
            Self::Name => "its name is one that some systems take for .git",
        }
    }
}

/// Reads working files as the objects that Git would make of them.
struct Reader<'repo> {
    worktree: &'repo gix::Repository,
    files: Files,
    pipeline: gix::filter::Pipeline<'repo>,
    index: gix::worktree::IndexPersistedOrInMemory,
    executable_bit: bool,
}

impl Reader<'_> {
    fn entry(&mut self, item: &Item, path: &BStr) -> Result<Entry> {
        match item {
            Item::Modification { entry, status, .. } => match status {
                EntryStatus::NeedsUpdate(_) => Ok(Entry::Same),
                EntryStatus::Change(Change::Removed) => Ok(Entry::Gone),
                EntryStatus::Change(Change::SubmoduleModification(submodule)) => {
                    Ok(match submodule.checked_out_head_id {
                        Some(id) => Entry::Blob(EntryKind::Commit, id),
                        None => Entry::Same,
                    })
                }
                _ => self.tracked(path, entry.mode),
            },
            Item::DirectoryContents { entry, .. } => match entry.disk_kind {
                Some(Kind::File | Kind::Symlink) => self.untracked(path),
                Some(Kind::Repository) => Ok(Entry::Uncaptured(Why::Repository)),
                Some(Kind::Untrackable) => Ok(Entry::Uncaptured(Why::Special)),
                Some(Kind::Directory) | None => Ok(Entry::Same),
            },
            // Renames are not looked for, so there are none.
            Item::Rewrite { .. } => Ok(Entry::Same),
        }
    }

    fn tracked(&mut self, path: &BStr, mode: Mode) -> Result<Entry> {
        let recorded = (!self.executable_bit).then_some(mode == Mode::FILE_EXECUTABLE);
        match self.read(path, recorded)? {
            Entry::Same => Ok(Entry::Gone),
            entry => Ok(entry),
        }
    }

    fn untracked(&mut self, path: &BStr) -> Result<Entry> {
        let recorded = (!self.executable_bit).then_some(false);
        self.read(path, recorded)
    }

    /// Reads `path`; `executable` overrides what the file says where it has no say.
    fn read(&mut self, path: &BStr, executable: Option<bool>) -> Result<Entry> {
        let named_like_git = path
            .split_str("/")
            .any(|name| everruns_core::path::is_git_internal_name(&name.to_str_lossy()));
        if named_like_git {
            return Ok(Entry::Uncaptured(Why::Name));
        }
        match self.files.read(path)? {
            Found::Link(target) => {
                let id = self.worktree.write_blob(&target).git("store a link")?;
                Ok(Entry::Blob(EntryKind::Link, id.detach()))
            }
            Found::File {
                content,
                executable: found,
            } => {
                let (pipeline, index) = (&mut self.pipeline, &self.index);
                let id = store(self.worktree, pipeline, index, path, &content)?;
                let kind = if executable.unwrap_or(found) {
                    EntryKind::BlobExecutable
                } else {
                    EntryKind::Blob
                };
                Ok(Entry::Blob(kind, id))
            }
            Found::TooLarge => Ok(Entry::Uncaptured(Why::TooLarge)),
            Found::Special => Ok(Entry::Uncaptured(Why::Special)),
            Found::Folder | Found::Nothing => Ok(Entry::Same),
        }
    }
}

/// Changes to a tree. Removals go first, so that a file can make room for a folder.
#[derive(Default)]
struct Edits {
    removed: Vec<BString>,
    upserted: Vec<(BString, EntryKind, ObjectId)>,
}

impl Edits {
    fn upsert(&mut self, path: &BStr, kind: EntryKind, id: ObjectId) {
        self.upserted.push((path.to_owned(), kind, id));
    }

    fn apply(self, repository: &gix::Repository, tree: ObjectId) -> Result<ObjectId> {
        let mut editor = repository.edit_tree(tree).git("begin a tree")?;
        for path in &self.removed {
            editor.remove(path).git("remove from a tree")?;
        }
        for (path, kind, id) in &self.upserted {
            editor.upsert(path, *kind, *id).git("add to a tree")?;
        }
        Ok(editor.write().git("write a tree")?.detach())
    }
}

/// The kind of tree entry for a mode in the index.
fn kind_of(mode: Mode) -> EntryKind {
    mode.to_tree_entry_mode()
        .map_or(EntryKind::Blob, |mode| mode.kind())
}
