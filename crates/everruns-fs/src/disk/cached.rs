//! What can be told without waiting: from what the kernel has in memory, by its own word.
//!
//! `RESOLVE_CACHED` and `RWF_NOWAIT` make it fail where it would have to wait for a disk. So these calls need no
//! thread that may block, and a change of threads costs several times what they do.

use std::io::IoSliceMut;
use std::sync::atomic::{AtomicBool, Ordering};

use everruns_core::file_system::{FileContent, FileKind, ReadRange};
use everruns_core::path::WorkspacePath;
use rustix::fd::{AsFd as _, OwnedFd};
use rustix::fs::{Mode, OFlags, ResolveFlags, Stat};
use rustix::io::{Errno, ReadWriteFlags};

use super::flags::READ;
use super::kind::{is_unchanged, kind, size};
use super::tree::Tree;

/// The largest file that is read so, in bytes: hashing it must not hold up other tasks.
const MAX_BYTES: u64 = 64 << 10;

/// For an entry itself, whatever it is.
const ENTRY: OFlags = OFlags::PATH.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Whether it is worth while to ask. The kernel or a file system that once said that it cannot do this is not
/// asked again.
#[derive(Debug)]
pub(super) struct Cached(AtomicBool);

impl Cached {
    pub(super) fn worth_trying(by_kernel: bool) -> Self {
        Self(AtomicBool::new(by_kernel))
    }

    fn is_worth_trying(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    fn give_up(&self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

impl Tree {
    /// The content of the file at `path` itself, when no link is on the way and no disk is needed. The caller has
    /// entered the tree.
    pub(super) fn read_cached(
        &self,
        path: &WorkspacePath,
        range: ReadRange,
    ) -> Option<FileContent> {
        let file = self.open_cached(path, READ)?;
        let before = rustix::fs::fstat(&file).ok()?;
        let size = size(&before);
        if kind(&before) != FileKind::File || size > MAX_BYTES.min(self.max_file_bytes) {
            return None;
        }
        let size = usize::try_from(size).ok()?;
        // One byte more tells whether it has grown.
        let mut bytes = vec![0; size + 1];
        let mut buffers = [IoSliceMut::new(&mut bytes)];
        match rustix::io::preadv2(&file, &mut buffers, 0, ReadWriteFlags::NOWAIT) {
            Ok(read) if read == size => {}
            Err(Errno::OPNOTSUPP | Errno::INVAL | Errno::NOSYS) => {
                self.cached.give_up();
                return None;
            }
            Ok(_) | Err(_) => return None,
        }
        let after = rustix::fs::fstat(&file).ok()?;
        bytes.truncate(size);
        is_unchanged(&before, &after).then(|| FileContent::of(&bytes.into(), range))
    }

    /// What is at `path` itself, when no link is on the way and no disk is needed. The caller has entered the tree.
    pub(super) fn stat_cached(&self, path: &WorkspacePath) -> Option<Stat> {
        let entry = self.open_cached(path, ENTRY)?;
        rustix::fs::fstat(entry).ok()
    }

    fn open_cached(&self, path: &WorkspacePath, flags: OFlags) -> Option<OwnedFd> {
        if path.is_top() || !self.cached.is_worth_trying() {
            return None;
        }
        let resolve = ResolveFlags::BENEATH
            | ResolveFlags::NO_MAGICLINKS
            | ResolveFlags::NO_SYMLINKS
            | ResolveFlags::CACHED;
        let opened = rustix::fs::openat2(
            self.root.as_fd(),
            path.relative(),
            flags,
            Mode::empty(),
            resolve,
        );
        match opened {
            Ok(opened) => Some(opened),
            Err(Errno::INVAL | Errno::NOSYS | Errno::PERM) => {
                self.cached.give_up();
                None
            }
            // Whatever it is, the call that may wait tells it better.
            Err(_) => None,
        }
    }
}
