//! Holding objects back, and storing them.

use gix::objs::Write as _;
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

/// Stores what `repository` holds back; it is on the disk once that is flushed. Where nothing is held back, this does
/// nothing.
pub(crate) fn settle(repository: &gix::Repository) -> Result<()> {
    let Some(held) = repository.objects.reset_object_memory() else {
        return Ok(());
    };
    if held.len() >= WORTH_A_PACK {
        return pack::write(repository, held);
    }
    for (id, (kind, data)) in &*held {
        // The database itself, below what is held in memory.
        (*repository.objects)
            .write_buf_with_known_id(*kind, data, *id)
            .git("store an object")?;
    }
    Ok(())
}

/// Writes what was held back elsewhere to `repository`, which stores it or holds it back itself.
pub(crate) fn hand_over(held: &Storage, repository: &gix::Repository) -> Result<()> {
    for (id, (kind, data)) in &**held {
        repository
            .objects
            .write_buf_with_known_id(*kind, data, *id)
            .git("store an object")?;
    }
    Ok(())
}
