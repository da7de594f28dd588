//! The files of a working tree, reached without following any link.

use std::ffi::{OsStr, OsString};
use std::io::{self, Write as _};
use std::ops::Deref;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use gix::bstr::{BStr, BString, ByteSlice as _};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, ResolveFlags, Stat};
use rustix::io::Errno;

use crate::error::{IoStep as _, Result};

/// What is at a path of a working tree.
#[derive(Debug)]
pub(crate) enum Found {
    /// A regular file with its bytes.
    File {
        /// Its content.
        content: Vec<u8>,
        /// Whether its owner may execute it.
        executable: bool,
    },
    /// A symbolic link with its target.
    Link(BString),
    /// A folder.
    Folder,
    /// A regular file with more bytes than are read.
    TooLarge,
    /// A pipe, socket or device.
    Special,
    /// Nothing.
    Nothing,
}

/// A regular file, opened for reading.
#[derive(Debug)]
#[expect(
    clippy::disallowed_types,
    reason = "a handle that was opened below the root, without following links"
)]
pub(crate) struct Opened {
    /// The file.
    pub(crate) file: std::fs::File,
    /// Its size when it was opened.
    pub(crate) bytes: u64,
    /// Its permissions.
    pub(crate) mode: u32,
}

/// The folder in which something was read last.
#[derive(Debug)]
pub(crate) struct Recent {
    path: BString,
    folder: OwnedFd,
}

/// The root folder of a working tree, held open.
///
/// Every path is walked one component at a time from here and no component may be a link, so nothing outside the
/// tree is read or written even while somebody swaps folders for links.
#[derive(Debug)]
pub(crate) struct Files {
    root: OwnedFd,
    path: PathBuf,
}

/// The largest file that is read, in bytes: it is held in memory while it is stored.
const SIZE_LIMIT: u64 = 1 << 30;

const FOLDER: OFlags = OFlags::DIRECTORY
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

impl Files {
    /// Opens the working tree at `path`.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let root = rustix::fs::openat(CWD, path, FOLDER | OFlags::RDONLY, Mode::empty())
            .step("open the working tree", path)?;
        Ok(Self {
            root,
            path: path.to_owned(),
        })
    }

    /// What is at `path`.
    pub(crate) fn read(&self, path: &BStr) -> Result<Found> {
        let recent = &mut None;
        self.read_after(recent, path, |_| ())
            .map(|(found, ())| found)
    }

    /// What is at `path`, with what `before` makes of the look at it, before it is read. Files that are read one after
    /// the other with the same `recent` are often in one folder, which is opened once.
    pub(crate) fn read_after<T: Default>(
        &self,
        recent: &mut Option<Recent>,
        path: &BStr,
        before: impl FnOnce(&Stat) -> T,
    ) -> Result<(Found, T)> {
        let (above, name) = match path.rfind_byte(b'/') {
            Some(at) => (path[..at].as_bstr(), path[at + 1..].as_bytes()),
            None => (BStr::new(""), path.as_bytes()),
        };
        let folder = if above.is_empty() {
            &self.root
        } else if let Some(folder) = self.recent_folder(recent, above)? {
            folder
        } else {
            return Ok((Found::Nothing, T::default()));
        };
        let name = OsStr::from_bytes(name);
        let Some(stat) = stat(folder, name).step("look at", &self.whole(path))? else {
            return Ok((Found::Nothing, T::default()));
        };
        let made = before(&stat);
        let found = match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => self.read_file(folder, name, path)?,
            FileType::Symlink => {
                let target = rustix::fs::readlinkat(folder, name, Vec::new())
                    .step("read the link", &self.whole(path))?;
                Found::Link(target.into_bytes().into())
            }
            FileType::Directory => Found::Folder,
            _ => Found::Special,
        };
        Ok((found, made))
    }

    /// The folder `path`, which is `recent` if that is the same one; `None` if there is none.
    fn recent_folder<'a>(
        &self,
        recent: &'a mut Option<Recent>,
        path: &BStr,
    ) -> Result<Option<&'a OwnedFd>> {
        if recent.as_ref().is_none_or(|recent| recent.path != path) {
            let folder = match open_folder(&self.root, path, FOLDER | OFlags::PATH) {
                Ok(folder) => folder,
                Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(None),
                Err(failure) => {
                    return Err(failure).step("open a folder above", &self.whole(path));
                }
            };
            *recent = Some(Recent {
                path: path.to_owned(),
                folder,
            });
        }
        Ok(recent.as_ref().map(|recent| &recent.folder))
    }

    /// Opens the regular file at `path`; `None` if there is something else, or nothing.
    pub(crate) fn open_file(&self, path: &BStr) -> Result<Option<Opened>> {
        let Some((folder, name)) = self.parent(path, false)? else {
            return Ok(None);
        };
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let handle = match rustix::fs::openat(&folder, &name, flags, Mode::empty()) {
            Ok(handle) => handle,
            Err(Errno::NOENT | Errno::LOOP | Errno::NXIO) => return Ok(None),
            Err(failure) => return Err(failure).step("open", &self.whole(path)),
        };
        let stat = rustix::fs::fstat(&handle).step("look at", &self.whole(path))?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Ok(None);
        }
        Ok(Some(Opened {
            file: into_file(handle),
            bytes: u64::try_from(stat.st_size).unwrap_or(0),
            mode: stat.st_mode & 0o777,
        }))
    }

    /// Creates a file at `path`, where nothing may be, and has `fill` write it; folders above it are made as needed.
    #[expect(
        clippy::disallowed_types,
        reason = "a handle that was opened below the root, without following links"
    )]
    pub(crate) fn create_file(
        &self,
        path: &BStr,
        mode: u32,
        fill: impl FnOnce(&std::fs::File) -> io::Result<u64>,
    ) -> Result<u64> {
        let whole = self.whole(path);
        let parent = self.parent(path, true)?;
        let (folder, name) = parent
            .ok_or(Errno::NOTDIR)
            .step("make the folders above", &whole)?;
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let handle = rustix::fs::openat(&folder, &name, flags, Mode::from_raw_mode(mode))
            .step("create", &whole)?;
        let filled = fill(&into_file(handle));
        if filled.is_err() {
            // The first failure is the one to report; half a file is worse than none.
            let _ = rustix::fs::unlinkat(&folder, &name, AtFlags::empty());
        }
        filled.step("write", &whole)
    }

    /// What kind of thing is at `path`, as the file system tells it; `None` if there is nothing.
    pub(crate) fn stat(&self, path: &BStr) -> Result<Option<Stat>> {
        match self.parent(path, false)? {
            Some((folder, name)) => stat(&folder, &name).step("look at", &self.whole(path)),
            None => Ok(None),
        }
    }

    /// The names in the folder at `path`, each with whether it is a folder itself.
    pub(crate) fn list(&self, path: &BStr) -> Result<Vec<(BString, bool)>> {
        let whole = self.whole(path);
        let Some((folder, name)) = self.parent(path, false)? else {
            return Ok(Vec::new());
        };
        let folder = rustix::fs::openat(&folder, &name, FOLDER | OFlags::RDONLY, Mode::empty())
            .step("open the folder", &whole)?;
        let mut names = Vec::new();
        for entry in rustix::fs::Dir::read_from(&folder).step("list", &whole)? {
            let entry = entry.step("list", &whole)?;
            let name = entry.file_name().to_bytes();
            if name != b"." && name != b".." {
                let found = stat(&folder, OsStr::from_bytes(name)).step("look at", &whole)?;
                let is_folder = found.is_some_and(|found| {
                    FileType::from_raw_mode(found.st_mode) == FileType::Directory
                });
                names.push((name.into(), is_folder));
            }
        }
        Ok(names)
    }

    /// Puts a regular file at `path` in one step; folders above it are made as needed.
    pub(crate) fn write(&self, path: &BStr, content: &[u8], executable: bool) -> Result<()> {
        let mode = if executable { 0o777 } else { 0o666 };
        self.replace(path, |folder, temporary| {
            let flags =
                OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let handle = rustix::fs::openat(folder, temporary, flags, Mode::from_raw_mode(mode))?;
            let mut file = into_file(handle);
            file.write_all(content)?;
            file.sync_data()
        })
    }

    /// Puts a symbolic link at `path` in one step; folders above it are made as needed.
    pub(crate) fn link(&self, path: &BStr, target: &BStr) -> Result<()> {
        let target = OsStr::from_bytes(target);
        self.replace(path, |folder, temporary| {
            Ok(rustix::fs::symlinkat(target, folder, temporary)?)
        })
    }

    /// Removes the file or link at `path`, and the folders above it that this empties.
    pub(crate) fn remove(&self, path: &BStr) -> Result<()> {
        let Some((folder, name)) = self.parent(path, false)? else {
            return Ok(());
        };
        match rustix::fs::unlinkat(&folder, &name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(failure) => return Err(failure).step("remove", &self.whole(path)),
        }
        let mut above = path;
        while let Some(slash) = above.rfind_byte(b'/') {
            above = above[..slash].as_bstr();
            if !self.remove_empty_folder(above)? {
                break;
            }
        }
        Ok(())
    }

    /// Removes the folder at `path` if it is empty; `true` if it was.
    pub(crate) fn remove_empty_folder(&self, path: &BStr) -> Result<bool> {
        let Some((folder, name)) = self.parent(path, false)? else {
            return Ok(false);
        };
        match rustix::fs::unlinkat(&folder, &name, AtFlags::REMOVEDIR) {
            Ok(()) => Ok(true),
            Err(Errno::NOTEMPTY | Errno::EXIST | Errno::NOENT | Errno::NOTDIR) => Ok(false),
            Err(failure) => Err(failure).step("remove the folder", &self.whole(path)),
        }
    }

    /// Makes the entries of the folder at `path` durable, or those of the root if it is empty; nothing where there is no
    /// such folder.
    pub(crate) fn flush_folder(&self, path: &BStr) -> Result<()> {
        let whole = || self.whole(path);
        if path.is_empty() {
            return rustix::fs::fsync(&self.root).step("flush", &whole());
        }
        let Some((folder, name)) = self.parent(path, false)? else {
            return Ok(());
        };
        match rustix::fs::openat(&folder, &name, FOLDER | OFlags::RDONLY, Mode::empty()) {
            Ok(folder) => rustix::fs::fsync(&folder).step("flush", &whole()),
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Ok(()),
            Err(failure) => Err(failure).step("open the folder", &whole()),
        }
    }

    fn read_file(&self, folder: &OwnedFd, name: &OsStr, path: &BStr) -> Result<Found> {
        // A pipe that takes the file's place between the look and the open must not block.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let whole = || self.whole(path);
        let handle = match rustix::fs::openat(folder, name, flags, Mode::empty()) {
            Ok(handle) => handle,
            Err(Errno::NOENT) => return Ok(Found::Nothing),
            Err(failure) => return Err(failure).step("open", &whole()),
        };
        let stat = rustix::fs::fstat(&handle).step("look at", &whole())?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Ok(Found::Special);
        }
        let size = u64::try_from(stat.st_size).unwrap_or(0);
        if size > SIZE_LIMIT {
            return Ok(Found::TooLarge);
        }
        // The end is found by reading on, so there has to be room for more.
        let expected = usize::try_from(size).unwrap_or(0).min(1 << 24);
        let mut content = Vec::with_capacity(expected + 1);
        loop {
            let spare = rustix::buffer::spare_capacity(&mut content);
            match rustix::io::read(&handle, spare) {
                Ok(0) => break,
                Ok(_) => content.reserve(1),
                Err(Errno::INTR) => {}
                Err(failure) => return Err(failure).step("read", &whole()),
            }
        }
        Ok(Found::File {
            content,
            executable: stat.st_mode & 0o100 != 0,
        })
    }

    fn replace(
        &self,
        path: &BStr,
        make: impl Fn(&OwnedFd, &OsStr) -> io::Result<()>,
    ) -> Result<()> {
        let whole = self.whole(path);
        let parent = self.parent(path, true)?;
        let (folder, name) = parent
            .ok_or(Errno::NOTDIR)
            .step("make the folders above", &whole)?;
        let temporary = temporary_name(&name);
        let outcome = match make(&folder, &temporary) {
            // Left over by a process that was killed; nobody else uses names of this form.
            Err(failure) if failure.kind() == io::ErrorKind::AlreadyExists => {
                rustix::fs::unlinkat(&folder, &temporary, AtFlags::empty())
                    .step("replace", &whole)?;
                make(&folder, &temporary)
            }
            outcome => outcome,
        };
        let outcome =
            outcome.and_then(|()| Ok(rustix::fs::renameat(&folder, &temporary, &folder, &name)?));
        if outcome.is_err() {
            // The first failure is the one to report; a temporary file that stays is found by the next attempt.
            let _ = rustix::fs::unlinkat(&folder, &temporary, AtFlags::empty());
        }
        outcome.step("write", &whole)
    }

    /// The folder that holds `path`, opened without following links, and the last component.
    ///
    /// `None` if a folder above is missing, or is no folder.
    fn parent(&self, path: &BStr, create: bool) -> Result<Option<(Folder<'_>, OsString)>> {
        let (above, name) = match path.rfind_byte(b'/') {
            Some(at) => (path[..at].as_bstr(), path[at + 1..].as_bytes()),
            None => (BStr::new(""), path.as_bytes()),
        };
        let name = OsString::from_vec(name.to_vec());
        if above.is_empty() {
            return Ok(Some((Folder::Root(&self.root), name)));
        }
        if !create {
            let step = "open a folder above";
            return match open_folder(&self.root, above, FOLDER | OFlags::PATH) {
                Ok(folder) => Ok(Some((Folder::Opened(folder), name))),
                Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Ok(None),
                Err(failure) => Err(failure).step(step, &self.whole(path)),
            };
        }
        let mut folder: Option<OwnedFd> = None;
        for component in above.split_str("/") {
            let within = folder.as_ref().unwrap_or(&self.root);
            match rustix::fs::mkdirat(within, component, Mode::from_raw_mode(0o777)) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(failure) => {
                    return Err(failure).step("make the folders above", &self.whole(path));
                }
            }
            let opened =
                rustix::fs::openat(within, component, FOLDER | OFlags::RDONLY, Mode::empty());
            folder = match opened {
                Ok(folder) => Some(folder),
                Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(None),
                Err(failure) => return Err(failure).step("open a folder above", &self.whole(path)),
            };
        }
        Ok(folder.map(|folder| (Folder::Opened(folder), name)))
    }

    /// The whole path of `path`; whoever opens it may follow links that `self` doesn't.
    pub(crate) fn whole(&self, path: &BStr) -> PathBuf {
        self.path.join(OsStr::from_bytes(path))
    }
}

/// How the kernel is to go to a folder: through nothing but folders, and not out.
const BENEATH: ResolveFlags = ResolveFlags::BENEATH
    .union(ResolveFlags::NO_SYMLINKS)
    .union(ResolveFlags::NO_MAGICLINKS);

/// Opens the folder `path` below `root`, through nothing but folders.
pub(crate) fn open_folder(
    root: &OwnedFd,
    path: &BStr,
    flags: OFlags,
) -> rustix::io::Result<OwnedFd> {
    // At once, where the kernel can.
    let whole: &[u8] = if path.is_empty() { b"." } else { path };
    match rustix::fs::openat2(root, whole, flags, Mode::empty(), BENEATH) {
        Ok(folder) => return Ok(folder),
        Err(failure @ (Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::XDEV)) => {
            return Err(failure);
        }
        // It doesn't know this call, or must not, or something was renamed meanwhile.
        Err(_) => {}
    }
    let (above, last) = match whole.rfind_byte(b'/') {
        Some(at) => (whole[..at].as_bstr(), &whole[at + 1..]),
        None => (BStr::new(""), whole),
    };
    let mut folder: Option<OwnedFd> = None;
    for component in above.split_str("/").filter(|part| !part.is_empty()) {
        let within = folder.as_ref().unwrap_or(root);
        let opened = rustix::fs::openat(within, component, FOLDER | OFlags::PATH, Mode::empty())?;
        folder = Some(opened);
    }
    rustix::fs::openat(folder.as_ref().unwrap_or(root), last, flags, Mode::empty())
}

/// A folder of a working tree.
enum Folder<'a> {
    Root(&'a OwnedFd),
    Opened(OwnedFd),
}

impl AsFd for Folder<'_> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        (**self).as_fd()
    }
}

impl Deref for Folder<'_> {
    type Target = OwnedFd;

    fn deref(&self) -> &OwnedFd {
        match self {
            Self::Root(root) => root,
            Self::Opened(folder) => folder,
        }
    }
}

/// The entry `name` of `folder`, or `None` if there is none.
fn stat(folder: &OwnedFd, name: &OsStr) -> rustix::io::Result<Option<Stat>> {
    match rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => Ok(Some(stat)),
        Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
        Err(failure) => Err(failure),
    }
}

/// The name under which new content is made before it takes the place of `name`.
///
/// It is of the form that the head's file system keeps out of listings.
fn temporary_name(name: &OsStr) -> OsString {
    let hash = blake3::hash(name.as_bytes()).to_hex();
    let short: String = hash.chars().take(16).collect();
    OsString::from(format!(".everruns-tmp-{short}"))
}

/// The standard library's file for `handle`.
#[expect(
    clippy::disallowed_types,
    reason = "reads and writes through a handle opened without following links"
)]
pub(crate) fn into_file(handle: OwnedFd) -> std::fs::File {
    std::fs::File::from(handle)
}
