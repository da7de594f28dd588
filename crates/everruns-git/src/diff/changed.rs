//! The files that differ between two trees, before their lines are looked at.

use gix::ObjectId;
use gix::bstr::BString;
use gix::diff::Rewrites;
use gix::object::tree::diff::ChangeDetached;
use gix::objs::tree::EntryMode;

use crate::error::{GitStep as _, Result};

/// One side of a changed file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Side {
    pub(super) mode: EntryMode,
    pub(super) id: ObjectId,
}

impl Side {
    fn new(mode: EntryMode, id: ObjectId) -> Self {
        Self { mode, id }
    }
}

/// A changed file.
#[derive(Debug)]
pub(super) struct Changed {
    pub(super) path: BString,
    pub(super) original: Option<BString>,
    pub(super) old: Option<Side>,
    pub(super) new: Option<Side>,
}

/// The files that differ between the trees `old` and `new`, with renames found as Git finds them, sorted by path.
pub(super) fn changed(
    repository: &gix::Repository,
    old: ObjectId,
    new: ObjectId,
) -> Result<Vec<Changed>> {
    let step = "compare the two states";
    let old = repository.find_tree(old).git(step)?;
    let new = repository.find_tree(new).git(step)?;
    let mut options = gix::diff::Options::default();
    options.track_rewrites(Some(Rewrites::default()));
    let changes = repository
        .diff_tree_to_tree(&old, &new, options)
        .git(step)?;
    let mut changed: Vec<Changed> = changes.into_iter().filter_map(sides).collect();
    changed.sort_by(|left, right| left.path.cmp(&right.path));
    Ok(changed)
}

/// The two sides of a change; `None` for folders, which are told by their files.
fn sides(change: ChangeDetached) -> Option<Changed> {
    let (location, original, old, new) = match change {
        ChangeDetached::Addition {
            location,
            entry_mode,
            id,
            ..
        } => (location, None, None, Some(Side::new(entry_mode, id))),
        ChangeDetached::Deletion {
            location,
            entry_mode,
            id,
            ..
        } => (location, None, Some(Side::new(entry_mode, id)), None),
        ChangeDetached::Modification {
            location,
            previous_entry_mode,
            previous_id,
            entry_mode,
            id,
        } => {
            let old = Side::new(previous_entry_mode, previous_id);
            (location, None, Some(old), Some(Side::new(entry_mode, id)))
        }
        ChangeDetached::Rewrite {
            source_location,
            source_entry_mode,
            source_id,
            location,
            entry_mode,
            id,
            ..
        } => {
            let old = Side::new(source_entry_mode, source_id);
            (
                location,
                Some(source_location),
                Some(old),
                Some(Side::new(entry_mode, id)),
            )
        }
    };
    let file = |side: &Side| !side.mode.is_tree();
    let (old, new) = (old.filter(file), new.filter(file));
    if old.is_none() && new.is_none() {
        return None;
    }
    Some(Changed {
        path: location,
        original,
        old,
        new,
    })
}

/// What is compared line by line; `None` if it is too large.
pub(super) fn content(
    repository: &gix::Repository,
    side: Option<Side>,
    limit: u64,
) -> Result<Option<Vec<u8>>> {
    let Some(side) = side else {
        return Ok(Some(Vec::new()));
    };
    if side.mode.is_commit() {
        // As Git shows the commit of a nested repository.
        return Ok(Some(
            format!("Subproject commit {}\n", side.id).into_bytes(),
        ));
    }
    let header = repository
        .find_header(side.id)
        .git("look at a file's content")?;
    if header.size() > limit {
        return Ok(None);
    }
    let mut object = repository
        .find_object(side.id)
        .git("read a file's content")?;
    Ok(Some(std::mem::take(&mut object.data)))
}
