//! What can be told without waiting: from what the kernel has in memory, by its own word.
//!
//! `RESOLVE_CACHED` and `RWF_NOWAIT` make it fail where it would have to wait for a disk. So these calls need no
//! thread that may block, and a change of threads costs several times what they do.

use std::io::IoSliceMut;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use everruns_core::file_system::{FileContent, FileKind, ReadRange};
use everruns_core::path::WorkspacePath;
use rustix::fd::{AsFd as _, OwnedFd};
use rustix::fs::{FsWord, Mode, OFlags, ResolveFlags, Stat};
use rustix::io::{Errno, ReadWriteFlags};

use super::flags::READ;
use super::kind::{is_unchanged, kind, size};
use super::tree::Tree;

/// The largest file that is read so, in bytes: hashing it must not hold up other tasks.
const MAX_BYTES: u64 = 64 << 10;

/// For an entry itself, whatever it is.
const ENTRY: OFlags = OFlags::PATH.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// The kinds of file systems that keep files in memory only: tmpfs and ramfs.
const IN_MEMORY: [FsWord; 2] = [0x0102_1994, 0x8584_58f6];

/// Stands for no device.
const NONE: u64 = u64::MAX;

/// Whether it is worth while to ask. The kernel or a file system that once said that it cannot do this is not
/// asked again.
#[derive(Debug)]
pub(super) struct Cached {
    /// For what is at a path.
    paths: AtomicBool,
    /// For the bytes of a file.
    bytes: AtomicBool,
    /// A device that keeps its files in memory and nowhere else, so that there is nothing to wait for. Such a file
    /// system may not know `RWF_NOWAIT`.
    memory: AtomicU64,
}

impl Cached {
    pub(super) fn worth_trying(by_kernel: bool) -> Self {
        Self {
            paths: AtomicBool::new(by_kernel),
            bytes: AtomicBool::new(by_kernel),
            memory: AtomicU64::new(NONE),
        }
    }

    fn has_paths(&self) -> bool {
        self.paths.load(Ordering::Relaxed)
    }

    fn has_bytes(&self) -> bool {
        self.bytes.load(Ordering::Relaxed) || self.memory.load(Ordering::Relaxed) != NONE
    }

    /// How the bytes of a file on `device` are asked for.
    fn flags(&self, device: u64) -> ReadWriteFlags {
        if self.memory.load(Ordering::Relaxed) == device {
            ReadWriteFlags::empty()
        } else {
            ReadWriteFlags::NOWAIT
        }
    }

    /// Notes that the file system of `file` does not know `RWF_NOWAIT`, and says whether it needs it.
    fn knows_no_waiting(&self, file: &OwnedFd, device: u64) -> bool {
        let is_memory =
            rustix::fs::fstatfs(file).is_ok_and(|found| IN_MEMORY.contains(&found.f_type));
        if is_memory {
            self.memory.store(device, Ordering::Relaxed);
        } else {
            self.bytes.store(false, Ordering::Relaxed);
        }
        is_memory
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
        if !self.cached.has_bytes() {
            return None;
        }
        let file = self.open_cached(path, READ)?;
        let before = rustix::fs::fstat(&file).ok()?;
        let size = size(&before);
        if kind(&before) != FileKind::File || size > MAX_BYTES.min(self.max_file_bytes) {
            return None;
        }
        let size = usize::try_from(size).ok()?;
        // One byte more tells whether it has grown.
        let mut bytes = vec![0; size + 1];
        if self.read_now(&file, before.st_dev, &mut bytes)? != size {
            return None;
        }
        let after = rustix::fs::fstat(&file).ok()?;
        bytes.truncate(size);
        is_unchanged(&before, &after).then(|| FileContent::of(&bytes.into(), range))
    }

    /// Reads from the beginning of `file` as far as no disk is needed.
    fn read_now(&self, file: &OwnedFd, device: u64, bytes: &mut [u8]) -> Option<usize> {
        let mut read = || {
            let flags = self.cached.flags(device);
            rustix::io::preadv2(file, &mut [IoSliceMut::new(bytes)], 0, flags)
        };
        match read() {
            Err(Errno::OPNOTSUPP | Errno::INVAL | Errno::NOSYS) => {
                let is_in_memory = self.cached.knows_no_waiting(file, device);
                is_in_memory.then(read)?.ok()
            }
            read => read.ok(),
        }
    }

    /// What is at `path` itself, when no link is on the way and no disk is needed. The caller has entered the tree.
    pub(super) fn stat_cached(&self, path: &WorkspacePath) -> Option<Stat> {
        let entry = self.open_cached(path, ENTRY)?;
        rustix::fs::fstat(entry).ok()
    }

    fn open_cached(&self, path: &WorkspacePath, flags: OFlags) -> Option<OwnedFd> {
        if path.is_top() || !self.cached.has_paths() {
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
                self.cached.paths.store(false, Ordering::Relaxed);
                None
            }
            // Whatever it is, the call that may wait tells it better.
            Err(_) => None,
        }
    }
}
