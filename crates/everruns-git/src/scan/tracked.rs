//! Index entries and their files, compared without asking the library for each.
//!
//! Most files are as the index says. Looking at each below its own folder, which is opened once, costs the kernel a
//! fraction of what whole paths do. Conflicts, submodules, and what can't be looked at are left to the library.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::thread;

use gix::bstr::{BStr, BString, ByteSlice as _};
use gix::index::Entry;
use gix::index::entry::stat::{Options, Time};
use gix::index::entry::{Flags, Mode, Stage, Stat, mode};
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, FileType, Mode as Permissions, OFlags};
use rustix::io::Errno;

use super::look::Purpose;
use crate::error::{GitStep as _, IoStep as _, Result};
use crate::files::open_folder;
use crate::threads::cores;

/// How many entries are worth a thread.
const ENTRIES_A_THREAD: usize = 500;

/// How many entries a thread takes at a time.
const ENTRIES_A_TURN: usize = 128;

/// The marks of entries over which the library passes.
const PASSED_OVER: Flags = Flags::SKIP_WORKTREE
    .union(Flags::ASSUME_VALID)
    .union(Flags::FSMONITOR_VALID);

/// Entries over which the library passes after [`look`].
pub(super) const DONE: Flags = PASSED_OVER.union(Flags::UPTODATE);

/// What is found at the path of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    /// Just what the entry says, as far as can be told without reading it.
    Unchanged,
    /// No file.
    Nothing,
    /// The file of a path that was only announced.
    Announced,
    /// Something else, which would have this mode.
    Other(Mode),
    /// A file or link that may differ.
    Touched {
        /// It can or can't be executed now.
        executable_bit_changed: bool,
        /// It can't have the same content.
        resized: bool,
    },
    /// It is in a folder that nobody of us may look into.
    Closed,
    /// This comparison can't tell.
    Unclear,
}

/// How the file system and the configuration want files compared.
#[derive(Clone, Copy)]
pub(super) struct Rules {
    stat: Options,
    symlinks: bool,
    executable_bit: bool,
    /// Whether entries are passed over that are marked so.
    believes_marks: bool,
    /// When the index was written: seconds, and nanoseconds in that second.
    written: (i64, u32),
}

impl Rules {
    /// The rules for `worktree` and its `index`.
    pub(super) fn of(
        worktree: &gix::Repository,
        index: &gix::index::State,
        purpose: Purpose,
    ) -> Result<Self> {
        let step = "prepare the comparison of files";
        let capabilities = worktree.filesystem_options().git(step)?;
        Ok(Self {
            stat: worktree.stat_options().git(step)?,
            symlinks: capabilities.symlink,
            executable_bit: capabilities.executable_bit,
            believes_marks: purpose.believes_marks(),
            written: (
                index.timestamp().unix_seconds(),
                index.timestamp().nanoseconds(),
            ),
        })
    }

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

/// Looks for the files of all entries of `index` in the working tree at `root`, on as many cores as they are worth, and
/// does `other` meanwhile. Returns what was found of those that are not unchanged, by their number, and what `other` did.
///
/// The entries that are told or unchanged are marked, so that the library passes over them.
pub(super) fn look<T>(
    rules: Rules,
    index: &mut gix::index::State,
    root: &Path,
    other: impl FnOnce() -> T,
) -> Result<(Vec<(usize, Found)>, T)> {
    let root =
        rustix::fs::open(root, FOLDER, Permissions::empty()).step("open the working tree", root)?;
    let threads = (index.entries().len() / ENTRIES_A_THREAD).clamp(1, cores());
    let paths = index.take_path_backing();
    let parts = index.entries_mut().chunks_mut(ENTRIES_A_TURN);
    let parts = Mutex::new((0..).step_by(ENTRIES_A_TURN).zip(parts));
    // Whoever has time takes the next part.
    let next = || parts.lock().unwrap_or_else(PoisonError::into_inner).next();
    let look = || {
        let mut folder = Folder::new(&root);
        let mut told = Vec::new();
        while let Some((first, entries)) = next() {
            for (number, entry) in (first..).zip(entries) {
                match folder.look(entry, entry.path_in(&paths), rules) {
                    Found::Unclear => {}
                    Found::Unchanged => entry.flags |= Flags::UPTODATE,
                    found => {
                        entry.flags |= Flags::SKIP_WORKTREE;
                        told.push((number, found));
                    }
                }
            }
        }
        told
    };
    let (mut told, other) = thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(look)).collect();
        let other = other();
        let mut told = look();
        for thread in others {
            let more = thread.join();
            told.extend(more.unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        (told, other)
    });
    told.sort_unstable_by_key(|(number, _)| *number);
    index.return_path_backing(paths);
    Ok((told, other))
}

/// The folder of the entry that was looked at last, held open.
struct Folder<'a> {
    root: &'a OwnedFd,
    path: BString,
    handle: Handle,
}

/// What a folder is reached by.
enum Handle {
    /// The working tree's root.
    Root,
    Open(OwnedFd),
    /// There is no such folder.
    Missing,
    /// It may not be opened.
    Closed,
    /// It can't be opened.
    Broken,
}

impl<'a> Folder<'a> {
    fn new(root: &'a OwnedFd) -> Self {
        Self {
            root,
            path: BString::default(),
            handle: Handle::Root,
        }
    }

    fn look(&mut self, entry: &Entry, path: &BStr, rules: Rules) -> Found {
        let comparable = match entry.mode {
            Mode::FILE | Mode::FILE_EXECUTABLE => true,
            Mode::SYMLINK => rules.symlinks,
            _ => false,
        };
        if !comparable || entry.stage() != Stage::Unconflicted {
            return Found::Unclear;
        }
        let found = self.look_at(entry, path, rules);
        let is_marked = entry.flags.intersects(PASSED_OVER);
        match found {
            // The library passes over them.
            Found::Nothing if is_marked => Found::Unclear,
            Found::Other(_) | Found::Announced | Found::Touched { .. } | Found::Closed
                if is_marked && rules.believes_marks =>
            {
                Found::Unclear
            }
            found => found,
        }
    }

    fn look_at(&mut self, entry: &Entry, path: &BStr, rules: Rules) -> Found {
        let (above, name) = match path.rfind_byte(b'/') {
            Some(at) => (path[..at].as_bstr(), path[at + 1..].as_bstr()),
            None => (BStr::new(""), path),
        };
        if self.path != above {
            self.path = above.to_owned();
            self.handle = descend(self.root, above);
        }
        let folder = match &self.handle {
            Handle::Root => self.root,
            Handle::Open(handle) => handle,
            Handle::Missing => return Found::Nothing,
            Handle::Closed => return Found::Closed,
            Handle::Broken => return Found::Unclear,
        };
        let name = OsStr::from_bytes(name);
        match rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => compare(entry, &stat, rules),
            Err(Errno::NOENT) => Found::Nothing,
            Err(Errno::ACCESS | Errno::PERM) => Found::Closed,
            Err(_) => Found::Unclear,
        }
    }
}

/// What `found` is to `entry`, in the order of Git's own questions.
fn compare(entry: &Entry, found: &rustix::fs::Stat, rules: Rules) -> Found {
    let kind = FileType::from_raw_mode(found.st_mode);
    if kind == FileType::Directory {
        return Found::Nothing;
    }
    if entry.flags.contains(Flags::INTENT_TO_ADD) {
        return Found::Announced;
    }
    let wanted = if entry.mode == Mode::SYMLINK {
        FileType::Symlink
    } else {
        FileType::RegularFile
    };
    let change = entry.mode.change_to_match_fs_with_values(
        kind == FileType::RegularFile,
        false,
        kind == FileType::Symlink,
        found.st_mode & 0o100 != 0,
        rules.symlinks,
        rules.executable_bit,
    );
    if kind != wanted {
        return Found::Other(match (change, kind) {
            (Some(mode::Change::Type { new_mode }), _) => new_mode,
            // The library takes whatever is at the path of an executable file for one.
            (_, FileType::Symlink) => Mode::SYMLINK,
            _ => Mode::FILE,
        });
    }
    let stat = stat_of(found);
    let executable_bit_changed = change.is_some();
    // Git notes a size of nothing where a file has to be read; so has one that was changed at the moment at which the
    // index was written.
    let known = entry.stat.size != 0 || entry.id.is_empty_blob();
    if known
        && !executable_bit_changed
        && entry.stat.matches(&stat, rules.stat)
        && rules.is_older_than_the_index(&entry.stat)
    {
        return Found::Unchanged;
    }
    Found::Touched {
        executable_bit_changed,
        resized: entry.stat.size != 0 && entry.stat.size != stat.size,
    }
}

/// The folder at `path` below `root`, through no link.
fn descend(root: &OwnedFd, path: &BStr) -> Handle {
    if path.is_empty() {
        return Handle::Root;
    }
    match open_folder(root, path, FOLDER) {
        Ok(folder) => Handle::Open(folder),
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Handle::Missing,
        Err(Errno::ACCESS | Errno::PERM) => Handle::Closed,
        Err(_) => Handle::Broken,
    }
}

/// Enough to look at what is in a folder, also where it can't be listed.
const FOLDER: OFlags = OFlags::PATH
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

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
