use rustix::buffer::spare_capacity;
use rustix::fd::{AsFd as _, OwnedFd};
use rustix::fs::{AtFlags, Mode};
use rustix::io::Errno;

use super::flags::FOLDER;
use super::lock::Lock;
use super::names::TEMPORARY_PREFIX;
use super::resolve::Place;
use super::tree::Tree;

/// Longer than any path that the walk can lead to.
const MAX_NOTE_BYTES: usize = 64 << 10;

/// Comes before the number of the file that a note is about.
const ONLY: u8 = 0;

/// Notes in the lock's file which temporary file beside `place` is about to be made: its path from the top. With
/// `only`, it is no longer ours unless it is the file of that number.
///
/// It is not flushed: a process that is killed leaves it readable, and after a power failure a file that
/// is left behind is hidden and harmless.
pub(super) fn note(
    lock: &Lock<'_>,
    place: &Place,
    name: &str,
    only: Option<u64>,
) -> Result<(), Errno> {
    let parent = place
        .resolved
        .split_last()
        .map_or(&[][..], |(_, parent)| parent);
    let mut text = parent.join(&b'/');
    if !parent.is_empty() {
        text.push(b'/');
    }
    text.extend_from_slice(name.as_bytes());
    if let Some(inode) = only {
        text.push(ONLY);
        text.extend_from_slice(inode.to_string().as_bytes());
    }
    rustix::fs::ftruncate(&lock.file, 0)?;
    let written = rustix::io::pwrite(&lock.file, &text, 0)?;
    if written == text.len() {
        Ok(())
    } else {
        Err(Errno::NOSPC)
    }
}

/// Says that nothing is left behind. If it cannot be said, the next holder finds nothing to remove.
pub(super) fn clear(lock: &Lock<'_>) {
    if let Err(errno) = rustix::fs::ftruncate(&lock.file, 0) {
        tracing::debug!(%errno, "a note of a temporary file could not be cleared");
    }
}

impl Tree {
    /// Removes the temporary file that a former holder of `lock` left behind, if any.
    pub(super) fn reclaim(&self, lock: &Lock<'_>) {
        let mut note = Vec::with_capacity(MAX_NOTE_BYTES);
        match rustix::io::pread(&lock.file, spare_capacity(&mut note), 0) {
            Ok(0) => return,
            Ok(_) => {}
            Err(errno) => {
                tracing::debug!(%errno, "a note of a temporary file could not be read");
                return;
            }
        }
        match self.remove_temporary(&note) {
            Ok(()) | Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => clear(lock),
            Err(errno) => tracing::debug!(%errno, "a temporary file could not be removed"),
        }
    }

    /// Removes what was left behind under every lock that nobody holds.
    pub(super) fn reclaim_all(&self) {
        for lock in self.locks.idle() {
            self.reclaim(&lock);
        }
    }

    /// Goes down to the noted file without following links: the path was resolved when it was noted.
    fn remove_temporary(&self, note: &[u8]) -> Result<(), Errno> {
        let mut note = note.splitn(2, |&byte| byte == ONLY);
        let path = note.next().unwrap_or_default();
        let only = note.next();
        let mut parts: Vec<_> = path.split(|&byte| byte == b'/').collect();
        let Some(name) = parts.pop() else {
            return Ok(());
        };
        if !name.starts_with(TEMPORARY_PREFIX.as_bytes()) || parts.contains(&&b".."[..]) {
            return Ok(());
        }
        let mut folder: Option<OwnedFd> = None;
        for part in parts {
            let here = folder.as_ref().map_or(self.root.as_fd(), |f| f.as_fd());
            folder = Some(rustix::fs::openat(here, part, FOLDER, Mode::empty())?);
        }
        let here = folder.as_ref().map_or(self.root.as_fd(), |f| f.as_fd());
        if let Some(only) = only {
            let stat = rustix::fs::statat(here, name, AtFlags::SYMLINK_NOFOLLOW)?;
            if stat.st_ino.to_string().as_bytes() != only {
                return Ok(());
            }
        }
        rustix::fs::unlinkat(here, name, AtFlags::empty())
    }
}
