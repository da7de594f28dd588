use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

use everruns_core::file_system::{FileSystemError, LastLink};
use everruns_core::path::WorkspacePath;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

use super::errors::at;
use super::flags::{FOLDER, LISTED_FOLDER};
use super::walk::walk;

/// How often the kernel is asked again when something was moved while it resolved a path.
const MAX_ATTEMPTS: usize = 64;

/// What to do about a folder on the way that does not exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Missing {
    Fail,
    Create,
    /// Resolves as far as possible; the [`Place`] then has no name and serves its `resolved` only.
    Keep,
}

/// Where an entry is, or would be: an open folder and a name in it.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) folder: OwnedFd,
    /// `None` when the path leads to `folder` itself.
    pub(super) name: Option<Vec<u8>>,
    /// The components from the top, links followed.
    pub(super) resolved: Vec<Vec<u8>>,
    /// The same as they are stored, where the disk takes several spellings for one name.
    pub(super) stored: Option<Vec<Vec<u8>>>,
    /// Whether the last component is a link's and not the caller's.
    pub(super) through_link: bool,
}

impl Place {
    /// The name, or an error where the folder itself is meant.
    pub(super) fn name(&self, path: &WorkspacePath) -> Result<&OsStr, FileSystemError> {
        match &self.name {
            Some(name) => Ok(OsStr::from_bytes(name)),
            None => Err(FileSystemError::NotAFile {
                path: path.clone(),
                kind: everruns_core::file_system::FileKind::Directory,
            }),
        }
    }

    /// The resolved path as one text of bytes, as it is stored.
    pub(super) fn stored_path(&self) -> Vec<u8> {
        let names = self.stored.as_ref().unwrap_or(&self.resolved);
        names.join(&b'/')
    }

    /// What the lock of this place goes by. Where a name has several spellings, changes take turns in the whole tree: a
    /// name that is being replaced at this moment cannot be looked up.
    pub(super) fn key(&self) -> Vec<u8> {
        match self.stored {
            Some(_) => Vec::new(),
            None => self.resolved.join(&b'/'),
        }
    }
}

/// Finds places below one top folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Resolver {
    pub(super) by_kernel: bool,
}

impl Resolver {
    /// The place of `path`.
    pub(super) fn place(
        self,
        root: BorrowedFd<'_>,
        path: &WorkspacePath,
        last: LastLink,
        missing: Missing,
    ) -> Result<Place, FileSystemError> {
        match self.place_without_links(root, path, last)? {
            Some(place) => Ok(place),
            None => walk(root, path, last, missing),
        }
    }

    /// The place of `path` when the kernel finds no link on the way; `None` when only the walk can tell.
    pub(super) fn place_without_links(
        self,
        root: BorrowedFd<'_>,
        path: &WorkspacePath,
        last: LastLink,
    ) -> Result<Option<Place>, FileSystemError> {
        if self.by_kernel {
            place_without_links(root, path, last)
        } else {
            Ok(None)
        }
    }

    /// Opens what is at `path` with `flags`; `None` when only the walk can tell what it is.
    pub(super) fn open_without_links(
        self,
        root: BorrowedFd<'_>,
        path: &WorkspacePath,
        flags: OFlags,
    ) -> Result<Option<OwnedFd>, Errno> {
        if !self.by_kernel || path.is_top() {
            return Ok(None);
        }
        match beneath(root, path.relative(), flags) {
            Ok(opened) => Ok(Some(opened)),
            // A link at the end, opened as a folder, is told to be none.
            Err(errno) if is_for_the_walk(errno) => Ok(None),
            Err(errno) => Err(errno),
        }
    }
}

/// The place of `path` when the kernel finds no link on the way.
fn place_without_links(
    root: BorrowedFd<'_>,
    path: &WorkspacePath,
    last: LastLink,
) -> Result<Option<Place>, FileSystemError> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Ok(None);
    };
    if path.is_git_internal() {
        return Err(FileSystemError::GitInternal { path: path.clone() });
    }
    let relative = if parent.is_top() {
        "."
    } else {
        parent.relative()
    };
    let folder = match beneath(root, relative, FOLDER) {
        Ok(folder) => folder,
        // The walk finds out about links, makes missing folders and tells what else is wrong.
        Err(Errno::NOENT) => return Ok(None),
        Err(errno) if is_for_the_walk(errno) => return Ok(None),
        Err(errno) => return Err(at(path, "open the folder of")(errno)),
    };
    if last == LastLink::Follow {
        match rustix::fs::readlinkat(&folder, name, Vec::new()) {
            Err(Errno::INVAL | Errno::NOENT) => {}
            Ok(_) => return Ok(None),
            Err(errno) => return Err(at(path, "look at")(errno)),
        }
    }
    Ok(Some(Place {
        folder,
        name: Some(name.as_bytes().to_vec()),
        resolved: path.components().map(|c| c.as_bytes().to_vec()).collect(),
        stored: None,
        through_link: false,
    }))
}

/// Whether the walk may come further, or tells better what is wrong: at links, and at paths that are longer than
/// one call takes.
fn is_for_the_walk(errno: Errno) -> bool {
    matches!(
        errno,
        Errno::LOOP | Errno::XDEV | Errno::AGAIN | Errno::NOTDIR | Errno::NAMETOOLONG
    )
}

/// Opens `relative` below `root`, without going through any link.
fn beneath(root: BorrowedFd<'_>, relative: &str, flags: OFlags) -> Result<OwnedFd, Errno> {
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS | ResolveFlags::NO_SYMLINKS;
    let mut attempts = 0;
    loop {
        match rustix::fs::openat2(root, relative, flags, Mode::empty(), resolve) {
            Err(Errno::AGAIN | Errno::INTR) if attempts < MAX_ATTEMPTS => attempts += 1,
            other => return other,
        }
    }
}

/// Whether the kernel has `openat2` and lets us use it.
pub(super) fn kernel_resolves(root: BorrowedFd<'_>) -> bool {
    beneath(root, ".", FOLDER).is_ok()
}

/// Flushes the folder's entries to stable storage.
pub(super) fn flush_folder(folder: impl AsFd) -> Result<(), Errno> {
    rustix::fs::fsync(&listed(folder)?)
}

/// The same folder, opened so that it can be listed and flushed.
pub(super) fn listed(folder: impl AsFd) -> Result<OwnedFd, Errno> {
    rustix::fs::openat(folder, ".", LISTED_FOLDER, Mode::empty())
}
