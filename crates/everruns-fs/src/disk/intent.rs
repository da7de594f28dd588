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

/// Comes before the number of the file that a note is about, and between what a note of a move says.
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
    let mut text = beside(place, name);
    if let Some(inode) = only {
        text.push(ONLY);
        text.extend_from_slice(inode.to_string().as_bytes());
    }
    write(lock, &text)
}

/// Notes that the file of number `inode`, which has the temporary name `name` beside `target` now, is moving there from
/// `source`: once it is at `target`, the name at `source` is to go.
pub(super) fn note_move(
    lock: &Lock<'_>,
    [target, source]: [&Place; 2],
    name: &str,
    inode: u64,
) -> Result<(), Errno> {
    let parts = [
        beside(target, name),
        inode.to_string().into_bytes(),
        target.resolved.join(&b'/'),
        source.resolved.join(&b'/'),
    ];
    write(lock, &parts.join(&ONLY))
}

/// The path from the top of `name` in the folder of `place`.
fn beside(place: &Place, name: &str) -> Vec<u8> {
    let parent = place
        .resolved
        .split_last()
        .map_or(&[][..], |(_, parent)| parent);
    let mut text = parent.join(&b'/');
    if !parent.is_empty() {
        text.push(b'/');
    }
    text.extend_from_slice(name.as_bytes());
    text
}

fn write(lock: &Lock<'_>, text: &[u8]) -> Result<(), Errno> {
    rustix::fs::ftruncate(&lock.file, 0)?;
    let written = rustix::io::pwrite(&lock.file, text, 0)?;
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
        let parts: Vec<&[u8]> = note.split(|&byte| byte == ONLY).collect();
        let done = match *parts.as_slice() {
            [temporary] => self.remove_temporary(temporary, None),
            [temporary, only] => self.remove_temporary(temporary, Some(only)),
            [temporary, inode, target, source] => {
                let removed = gone(self.remove_temporary(temporary, None));
                removed.and_then(|()| self.finish_move(inode, target, source))
            }
            _ => Ok(()),
        };
        match gone(done) {
            Ok(()) => clear(lock),
            Err(errno) => tracing::debug!(%errno, "a temporary file could not be removed"),
        }
    }

    /// Removes what was left behind under every lock that nobody holds.
    pub(super) fn reclaim_all(&self) {
        for lock in self.locks.idle() {
            self.reclaim(&lock);
        }
    }

    fn remove_temporary(&self, path: &[u8], only: Option<&[u8]>) -> Result<(), Errno> {
        let noted = self.noted(path)?;
        if !noted.name.starts_with(TEMPORARY_PREFIX.as_bytes())
            || only.is_some_and(|only| noted.inode().is_ok_and(|inode| inode.as_bytes() != only))
        {
            return Ok(());
        }
        noted.remove()
    }

    /// Removes the first name of a file that has moved, if it is still a name of that file.
    fn finish_move(&self, inode: &[u8], target: &[u8], source: &[u8]) -> Result<(), Errno> {
        if target == source {
            return Ok(());
        }
        let (target, source) = (self.noted(target)?, self.noted(source)?);
        if target.inode()?.as_bytes() == inode && source.inode()?.as_bytes() == inode {
            source.remove()?;
        }
        Ok(())
    }

    /// Goes down to a noted entry without following links: the path was resolved when it was noted.
    fn noted<'a>(&self, path: &'a [u8]) -> Result<Noted<'a>, Errno> {
        let mut parts: Vec<_> = path.split(|&byte| byte == b'/').collect();
        let name = parts.pop().unwrap_or_default();
        if parts.contains(&&b".."[..]) || name == b".." {
            return Err(Errno::NOENT);
        }
        let mut folder = rustix::fs::openat(self.root.as_fd(), ".", FOLDER, Mode::empty())?;
        for part in parts {
            folder = rustix::fs::openat(&folder, part, FOLDER, Mode::empty())?;
        }
        Ok(Noted { folder, name })
    }
}

/// An entry that a note is about.
struct Noted<'a> {
    folder: OwnedFd,
    name: &'a [u8],
}

impl Noted<'_> {
    fn inode(&self) -> Result<String, Errno> {
        let stat = rustix::fs::statat(&self.folder, self.name, AtFlags::SYMLINK_NOFOLLOW)?;
        Ok(stat.st_ino.to_string())
    }

    fn remove(&self) -> Result<(), Errno> {
        rustix::fs::unlinkat(&self.folder, self.name, AtFlags::empty())
    }
}

/// What is gone needs no removal.
fn gone(result: Result<(), Errno>) -> Result<(), Errno> {
    match result {
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Ok(()),
        other => other,
    }
}
