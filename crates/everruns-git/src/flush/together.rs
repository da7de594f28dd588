//! Flushing many files at once, so that the file system can do it in few commits of its journal.

use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

/// How many flushes wait at the same time. They wait for the disk, not for a processor.
const AT_ONCE: usize = 8;

/// Flushes the content of each file, named by its path in `root`. One that is gone is passed over: whoever took it away
/// has put its content elsewhere.
pub(super) fn flush_files(root: &OwnedFd, files: &[String]) -> rustix::io::Result<()> {
    each(files, |file| {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        match rustix::fs::openat(root, file.as_str(), flags, Mode::empty()) {
            Ok(file) => rustix::fs::fdatasync(&file),
            Err(Errno::NOENT) => Ok(()),
            Err(failure) => Err(failure),
        }
    })
}

/// Flushes the entries of each folder, named by its path in `root`.
pub(super) fn flush_folders(root: &OwnedFd, folders: &[String]) -> rustix::io::Result<()> {
    each(folders, |folder| match super::folders::open(root, folder) {
        Ok(folder) => rustix::fs::fsync(&folder),
        // It went empty.
        Err(Errno::NOENT) => Ok(()),
        Err(failure) => Err(failure),
    })
}

/// Does `work` for each of `items`, several at a time; the first failure is told once all are done.
fn each<T: Sync>(
    items: &[T],
    work: impl Fn(&T) -> rustix::io::Result<()> + Sync,
) -> rustix::io::Result<()> {
    let next = AtomicUsize::new(0);
    let run = || {
        let mut outcome = Ok(());
        while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
            outcome = outcome.and(work(item));
        }
        outcome
    };
    let threads = NonZero::new(items.len().min(AT_ONCE)).map_or(0, NonZero::get);
    if threads < 2 {
        return run();
    }
    thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(run)).collect();
        let mut outcome = Ok(());
        for thread in running {
            outcome = outcome.and(thread.join().unwrap_or(Err(Errno::IO)));
        }
        outcome
    })
}
