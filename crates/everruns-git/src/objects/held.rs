//! Holding objects back, and storing them.

use std::collections::HashSet;

use gix::ObjectId;
use gix::objs::{Kind, Write as _};
use gix::odb::memory::Storage;

use super::pack;
use crate::error::{GitStep as _, Result};

/// From how many objects on they are stored as a pack. Git draws the line at the same number when it receives objects
/// (`transfer.unpackLimit`): packs cost each later look-up a little, and files of their own a lot of room.
const WORTH_A_PACK: usize = 100;

/// Holds back what is written to `repository` from now on, until it is settled.
pub(crate) fn hold(repository: &mut gix::Repository) {
    repository.objects.enable_object_memory();
}

/// Which of the objects that are held back the repository has already.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Stored<'a> {
    /// Each is looked for, which takes longer the more packs there are.
    Unknown,
    /// These are known to be there, and each of the others is looked for.
    Known(&'a HashSet<ObjectId>),
    /// Some are known to be there, and of the others only what is large and what is unsure is looked for. What is there
    /// after all is stored once more.
    These {
        known: &'a HashSet<ObjectId>,
        unsure: &'a HashSet<ObjectId>,
    },
}

/// How many bytes of trees and commits are kept in memory for whoever reads them next.
const MOST_KEPT: usize = 1 << 20;

/// From how many bytes on an object is looked for rather than stored once more.
const LARGE: usize = 64 << 10;

impl Stored<'_> {
    fn has(self, repository: &gix::Repository, id: &ObjectId, kind: Kind, data: &[u8]) -> bool {
        // What was only put into memory to be read is among these, and must never be written.
        let is_known = match self {
            Self::Unknown => false,
            Self::Known(known) | Self::These { known, .. } => known.contains(id),
        };
        if is_known {
            return true;
        }
        match self {
            // New commits say when they were made.
            _ if kind == Kind::Commit => false,
            Self::These { unsure, .. } if data.len() < LARGE && !unsure.contains(id) => false,
            // In the database itself, below what is held in memory.
            _ => (*repository.objects).exists_without_refresh(id),
        }
    }
}

/// Stores what `repository` holds back and doesn't have; it is on the disk once that is flushed. Where nothing is held
/// back, this does nothing.
///
/// Returns trees and commits of what was held back, if they are not too much.
pub(crate) fn settle(repository: &gix::Repository, stored: Stored<'_>) -> Result<Storage> {
    let Some(mut held) = repository.objects.reset_object_memory() else {
        return Ok(Storage::default());
    };
    let kept = trees_and_commits(&held);
    held.retain(|id, (kind, data)| !stored.has(repository, id, *kind, data));
    if held.len() >= WORTH_A_PACK {
        pack::write(repository, held)?;
        return Ok(kept);
    }
    for (id, (kind, data)) in &*held {
        // The database itself, below what is held in memory.
        (*repository.objects)
            .write_buf_with_known_id(*kind, data, *id)
            .git("store an object")?;
    }
    Ok(kept)
}

/// Forgets what `repository` holds back, and returns trees and commits of it, if they are not too much.
pub(crate) fn forget(repository: &gix::Repository) -> Storage {
    let held = repository.objects.reset_object_memory();
    held.as_ref().map(trees_and_commits).unwrap_or_default()
}

fn trees_and_commits(held: &Storage) -> Storage {
    let mut found = Storage::default();
    let mut bytes = 0;
    for (id, (kind, data)) in &**held {
        if *kind == Kind::Blob {
            continue;
        }
        bytes += data.len();
        if bytes > MOST_KEPT {
            return Storage::default();
        }
        found.insert(*id, (*kind, data.clone()));
    }
    found
}

/// Writes what was held back elsewhere to `repository`, which holds it back itself.
pub(crate) fn hand_over(held: &Storage, repository: &gix::Repository) -> Result<()> {
    for (id, (kind, data)) in &**held {
        repository
            .objects
            .write_buf_with_known_id(*kind, data, *id)
            .git("store an object")?;
    }
    Ok(())
}
