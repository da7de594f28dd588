//! Files that are as the index says, found without asking the library for each.
//!
//! Most files are. Looking at each below its own folder, which is opened once, costs the kernel a fraction of what whole
//! paths do. Only what this can't vouch for is left to the library's comparison.

use std::ffi::OsStr;
use std::num::NonZero;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::thread;

use gix::bstr::{BStr, BString, ByteSlice as _};
use gix::index::entry::stat::{Options, Time};
use gix::index::entry::{Flags, Mode, Stage, Stat};
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, CWD, FileType, Mode as Permissions, OFlags};

use crate::error::{GitStep as _, IoStep as _, Result};

/// How many entries are worth a thread.
const ENTRIES_A_THREAD: usize = 500;

/// How the file system and the configuration want files compared.
#[derive(Clone, Copy)]
struct Rules {
    stat: Options,
    symlinks: bool,
    executable_bit: bool,
    /// When the index was written: seconds, and nanoseconds in that second.
    written: (i64, u32),
}

impl Rules {
    /// Whether a file of `stat` was surely not changed after the index was written.
    fn is_older_than_the_index(self, stat: &Stat) -> bool {
        let (seconds, nanoseconds) = self.written;
        let changed = i64::from(stat.mtime.secs);
        if self.stat.use_nsec && self.stat.check_stat {
            (changed, stat.mtime.nsecs) < (seconds, nanoseconds)
        } else {
            changed < seconds
        }
    }
}

/// Marks the entries of `index` whose files in the working tree at `root` are certainly unchanged.
pub(super) fn mark(
    worktree: &gix::Repository,
    index: &mut gix::index::State,
    root: &Path,
) -> Result<()> {
    let step = "prepare the comparison of files";
    let capabilities = worktree.filesystem_options().git(step)?;
    let rules = Rules {
        stat: worktree.stat_options().git(step)?,
        symlinks: capabilities.symlink,
        executable_bit: capabilities.executable_bit,
        written: (
            index.timestamp().unix_seconds(),
            index.timestamp().nanoseconds(),
        ),
    };
    let root = open(CWD, root.as_os_str()).step("open the working tree", root)?;
    let most = thread::available_parallelism().map_or(1, NonZero::get);
    let entries = index.entries().len();
    let threads = (entries / ENTRIES_A_THREAD).clamp(1, most);
    let paths = index.take_path_backing();
    thread::scope(|scope| {
        let share = entries.div_ceil(threads).max(1);
        for entries in index.entries_mut().chunks_mut(share) {
            let (root, paths) = (&root, &paths);
            scope.spawn(move || {
                let mut folder = Folder {
                    root,
                    path: BString::default(),
                    handle: None,
                };
                for entry in entries {
                    let path = entry.path_in(paths);
                    if folder.holds_unchanged(entry, path, rules) {
                        entry.flags |= Flags::UPTODATE;
                    }
                }
            });
        }
    });
    index.return_path_backing(paths);
    Ok(())
}

/// The folder of the entry that was looked at last, held open.
struct Folder<'a> {
    root: &'a OwnedFd,
    path: BString,
    /// None for the root itself, and for what can't be opened as a folder.
    handle: Option<OwnedFd>,
}

impl Folder<'_> {
    fn holds_unchanged(&mut self, entry: &gix::index::Entry, path: &BStr, rules: Rules) -> bool {
        let comparable = match entry.mode {
            Mode::FILE | Mode::FILE_EXECUTABLE => true,
            Mode::SYMLINK => rules.symlinks,
            _ => false,
        };
        if !comparable
            || entry.stage() != Stage::Unconflicted
            || entry.flags.contains(Flags::INTENT_TO_ADD)
        {
            return false;
        }
        let (above, name) = match path.rfind_byte(b'/') {
            Some(at) => (path[..at].as_bstr(), path[at + 1..].as_bstr()),
            None => (BStr::new(""), path),
        };
        if self.path != above {
            self.path = above.to_owned();
            self.handle = descend(self.root, above);
        }
        let folder = match &self.handle {
            Some(handle) => handle,
            None if above.is_empty() => self.root,
            None => return false,
        };
        let name = OsStr::from_bytes(name);
        let Ok(found) = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) else {
            return false;
        };
        let kind = FileType::from_raw_mode(found.st_mode);
        let change = entry.mode.change_to_match_fs_with_values(
            kind == FileType::RegularFile,
            kind == FileType::Directory,
            kind == FileType::Symlink,
            found.st_mode & 0o100 != 0,
            rules.symlinks,
            rules.executable_bit,
        );
        // A file changed at the moment at which the index was written has to be read.
        change.is_none()
            && kind != FileType::Directory
            && entry.stat.matches(&stat_of(&found), rules.stat)
            && rules.is_older_than_the_index(&entry.stat)
    }
}

/// The folder at `path` below `root`, through no link; `None` if there is no such folder.
fn descend(root: &OwnedFd, path: &BStr) -> Option<OwnedFd> {
    let mut folder: Option<OwnedFd> = None;
    for component in path.split_str("/") {
        let name = OsStr::from_bytes(component);
        folder = match &folder {
            Some(folder) => Some(open(folder, name).ok()?),
            None => Some(open(root, name).ok()?),
        };
    }
    folder
}

fn open(folder: impl rustix::fd::AsFd, name: &OsStr) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(folder, name, flags, Permissions::empty())
}

/// What an index notes of a file; Git cuts the numbers to 32 bits as well.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "an index holds the low 32 bits, and the types differ from system to system"
)]
fn stat_of(found: &rustix::fs::Stat) -> Stat {
    let time = |seconds, nanoseconds| Time {
        secs: seconds,
        nsecs: nanoseconds,
    };
    Stat {
        mtime: time(found.st_mtime as u32, found.st_mtime_nsec as u32),
        ctime: time(found.st_ctime as u32, found.st_ctime_nsec as u32),
        dev: found.st_dev as u32,
        ino: found.st_ino as u32,
        uid: found.st_uid,
        gid: found.st_gid,
        size: found.st_size as u32,
    }
}
