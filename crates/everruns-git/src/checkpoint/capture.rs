//! The state of a worktree as two trees and a manifest.

use std::collections::{BTreeSet, HashSet};

use gix::ObjectId;
use gix::bstr::{BStr, BString, ByteSlice as _};
use gix::index::entry::{Flags, Mode, Stage};
use gix::objs::tree::EntryKind;
use gix::status::index_worktree::Item;
use gix::status::plumbing::index_as_worktree::{Change, EntryStatus};

use super::content::read_all;
use super::learned::Learned;
use super::manifest::{Announced, Manifest, StageEntry, Uncaptured};
use crate::error::{GitStep as _, IoStep as _, Result};
use crate::index::mode_of;
use crate::objects::{Edits, Material, Stored, hold, settle};
use crate::scan::{Purpose, Scan, path_of, scan};
use crate::state::{MergeNotes, PickNotes};
use crate::worktree::{Entry, Keep, Why};

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

/// Captures what Git would commit of `worktree`, writing what its repository doesn't hold yet as objects, and nothing
/// else.
pub(crate) fn capture(worktree: &gix::Repository) -> Result<Captured> {
    let mut own = worktree.clone();
    hold(&mut own);
    let captured = look(&own, Purpose::Commit, Keep::Stored)?.state;
    settle(&own, Stored::Unknown)?;
    Ok(captured)
}

/// As [`capture_with_changes`], of a repository that holds its new objects in memory, where all of them stay.
pub(crate) fn capture_in_memory(worktree: &gix::Repository) -> Result<Captured> {
    look(worktree, Purpose::Keep, Keep::InMemory).map(|capture| capture.state)
}

/// The state of a worktree, and where it differs from its commit.
#[derive(Debug, Clone)]
pub(crate) struct Capture {
    /// The state.
    pub(crate) state: Captured,
    /// The paths at which the index or the files differ from the commit.
    pub(crate) changed: BTreeSet<BString>,
    /// What the trees of the state are made of, as far as it was read or made for this capture.
    pub(crate) material: Material,
    /// The files of those of it that are at no path of the index.
    pub(crate) new_paths: HashSet<ObjectId>,
    /// Whether everything was looked at for this capture.
    pub(crate) is_whole: bool,
    /// What was found out of the commit and the index on the way.
    pub(crate) learned: Learned,
}

/// Captures the whole state of `worktree`, with the changed paths; what `worktree` holds back remains to be settled.
pub(crate) fn capture_with_changes(worktree: &gix::Repository) -> Result<Capture> {
    look(worktree, Purpose::Keep, Keep::Stored)
}

/// The same of a folder that was moved away, whose submodules are taken to be as they were `in_place`.
pub(crate) fn capture_away(
    worktree: &gix::Repository,
    in_place: Option<&Captured>,
) -> Result<Capture> {
    let mut capture = look(worktree, Purpose::KeepAway, Keep::Stored)?;
    let Some(in_place) = in_place else {
        return Ok(capture);
    };
    let step = "read the submodules";
    let index = worktree.index_or_empty().git("read the index")?;
    let before = worktree.find_tree(in_place.files).git(step)?;
    let mut edits = Edits::default();
    for entry in index.entries() {
        if entry.mode != Mode::COMMIT || entry.stage() != Stage::Unconflicted {
            continue;
        }
        let path = entry.path(&index);
        let known = before.lookup_entry(path.split_str("/")).git(step)?;
        if let Some(known) = known.filter(|known| known.mode().is_commit())
            && known.object_id() != entry.id
        {
            edits.upsert(path, EntryKind::Commit, known.object_id());
        }
    }
    capture.changed.extend(edits.paths());
    let files = capture.state.files;
    capture.state.files = edits.apply_held(worktree, files, &mut capture.material)?;
    Ok(capture)
}

fn look(worktree: &gix::Repository, purpose: Purpose, keep: Keep) -> Result<Capture> {
    let scan = scan(worktree, purpose)?;
    let (head, head_tree) = head_of(worktree)?;
    let (mut changed, mut material) = (BTreeSet::new(), Material::default());
    let edits = staged(&scan);
    changed.extend(edits.paths());
    let index = edits.apply_held(worktree, head_tree, &mut material)?;
    let mut manifest = Manifest {
        merge: MergeNotes::read(worktree.git_dir())?,
        pick: PickNotes::read(worktree.git_dir())?,
        ..Manifest::default()
    };
    let mut new_paths = HashSet::new();
    let edits = unstaged(worktree, &scan, keep, &mut manifest, &mut new_paths)?;
    if purpose == Purpose::Commit {
        refuse_unread(worktree, &manifest)?;
    }
    changed.extend(edits.paths());
    let unreadable = scan.unreadable.iter().map(|submodule| Uncaptured {
        path: submodule.path.clone(),
        reason: "a submodule that can't be looked at".to_owned(),
        holds_work: true,
    });
    manifest.uncaptured.extend(unreadable);
    let nested = scan.nested.iter().map(|folder| Uncaptured {
        path: folder.clone(),
        reason: Why::Repository.reason().to_owned(),
        holds_work: true,
    });
    manifest.uncaptured.extend(nested);
    let closed = scan.closed.iter().map(|path| Uncaptured {
        path: path.clone(),
        reason: Why::Unreadable.reason().to_owned(),
        holds_work: true,
    });
    manifest.uncaptured.extend(closed);
    let files = edits.apply_held(worktree, index, &mut material)?;
    let state = Captured {
        head,
        head_tree,
        index,
        files,
        manifest,
    };
    Ok(Capture {
        state,
        changed,
        material,
        new_paths,
        is_whole: true,
        learned: Learned::default(),
    })
}

/// The commit that `HEAD` names and its tree; the null id and the empty tree for a branch without commits.
pub(crate) fn head_of(worktree: &gix::Repository) -> Result<(ObjectId, ObjectId)> {
    let step = "read HEAD";
    if worktree.head().git(step)?.is_unborn() {
        let hash = worktree.object_hash();
        return Ok((hash.null(), ObjectId::empty_tree(hash)));
    }
    let head = worktree.head_commit().git(step)?;
    let tree = head.tree_id().git(step)?.detach();
    Ok((head.id, tree))
}

/// How the index's tree differs from the commit's.
fn staged(scan: &Scan) -> Edits {
    use gix::diff::index::ChangeRef;
    let mut edits = Edits::default();
    for change in &scan.staged {
        let (path, _, mode, id) = change.fields();
        match change {
            ChangeRef::Deletion { .. } => edits.removed.push(path.to_owned()),
            _ => edits.upsert(path, kind_of(mode), id.to_owned()),
        }
    }
    edits
}

/// How the files' tree differs from the index's; what trees can't say goes into `manifest`.
fn unstaged(
    worktree: &gix::Repository,
    scan: &Scan,
    keep: Keep,
    manifest: &mut Manifest,
    new_paths: &mut HashSet<ObjectId>,
) -> Result<Edits> {
    let mut edits = Edits::default();
    for (item, entry) in scan
        .unstaged
        .iter()
        .zip(read_all(worktree, &scan.unstaged, keep)?)
    {
        let path = path_of(item);
        note(item, path, manifest);
        match entry {
            Entry::Blob(kind, id) if is_as_indexed(item, kind, id) => {}
            Entry::Blob(kind, id) => {
                if matches!(item, Item::DirectoryContents { .. }) {
                    new_paths.insert(id);
                }
                edits.upsert(path, kind, id);
            }
            // What was only announced is in no tree.
            Entry::Gone if is_announced(item) => {}
            Entry::Gone => edits.removed.push(path.to_owned()),
            Entry::Same => {}
            Entry::Uncaptured(why) => {
                if matches!(item, Item::Modification { .. }) && !is_announced(item) {
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
    Ok(edits)
}

/// Fails, as Git does, if there is a file that belongs into the commit and can't be read.
fn refuse_unread(worktree: &gix::Repository, manifest: &Manifest) -> Result<()> {
    let reason = Why::Unreadable.reason();
    let unread = manifest.uncaptured.iter();
    let Some(unread) = unread.clone().find(|entry| entry.reason == reason) else {
        return Ok(());
    };
    let path = gix::path::from_bstr(unread.path.as_bstr()).git("convert a path")?;
    let whole = worktree.workdir().map(|folder| folder.join(&path));
    let denied = Err(std::io::Error::from(std::io::ErrorKind::PermissionDenied));
    denied.step("read", &whole.unwrap_or_else(|| path.into_owned()))
}

/// Whether the path of `item` was only announced.
fn is_announced(item: &Item) -> bool {
    matches!(item, Item::Modification { entry, .. } if entry.flags.contains(Flags::INTENT_TO_ADD))
}

/// Whether the index has the same at the path of `item`, which was touched only.
fn is_as_indexed(item: &Item, kind: EntryKind, id: ObjectId) -> bool {
    let Item::Modification { entry, .. } = item else {
        return false;
    };
    entry.stage() == Stage::Unconflicted
        && !entry.flags.contains(Flags::INTENT_TO_ADD)
        && entry.id == id
        && mode_of(kind) == entry.mode
}

/// Notes in the manifest what the index says of `path` that no tree can.
fn note(item: &Item, path: &BStr, manifest: &mut Manifest) {
    let Item::Modification { entry, status, .. } = item else {
        return;
    };
    if let EntryStatus::Change(Change::SubmoduleModification(submodule)) = status
        && submodule
            .changes
            .as_ref()
            .is_some_and(|all| !all.is_empty())
    {
        manifest.uncaptured.push(Uncaptured {
            path: path.to_owned(),
            reason: "changes in a submodule".to_owned(),
            holds_work: true,
        });
    }
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

/// The kind of tree entry for a mode in the index.
fn kind_of(mode: Mode) -> EntryKind {
    mode.to_tree_entry_mode()
        .map_or(EntryKind::Blob, |mode| mode.kind())
}
