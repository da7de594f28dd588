//! Durable objects.
//!
//! Asking the system to flush a whole file system makes a checkpoint wait for whatever else is being written on the
//! machine. So that is asked once for a repository; from then on only files are flushed that have come since.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;
use std::{fs, io};

use rustix::fd::OwnedFd;
use rustix::io::Errno;

use super::folders::{self, Folders, Time};
use super::together::{flush_files, flush_folders};
use crate::error::{IoStep as _, Result};

/// What is said after a flush that failed.
const LOST: &str = "an earlier flush failed, so objects may be lost: look at the disk, run `git fsck` in the repository, and \
     open it anew";

/// With more new files than this, flushing the whole file system is the smaller work.
const MOST_FILES: usize = 4096;

/// Which objects are known to be on the disk, for each object database.
#[derive(Debug, Default)]
pub(crate) struct FlushedObjects(Mutex<HashMap<PathBuf, Arc<Mutex<Known>>>>);

/// Files by folder and name, each with the time at which it got that name.
type Young = HashSet<(String, Time)>;

/// What is known of one object database.
#[derive(Debug, Default)]
enum Known {
    /// Nothing yet.
    #[default]
    Nothing,
    /// What was there at the look is on the disk, and so are the files named, which are too young to be told from later
    /// ones by their dates. An object never changes, so none is flushed twice.
    Flushed(Folders, Young),
    /// The disk did not take what it was given.
    Failed,
}

impl FlushedObjects {
    /// Makes everything durable that is in the object database of `repository`, whoever wrote it.
    ///
    /// Of several calls at once for one repository, one flushes for all.
    pub(crate) fn flush(&self, repository: &gix::Repository) -> Result<()> {
        let objects = repository.common_dir().join("objects");
        let mut databases = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = Arc::clone(databases.entry(objects.clone()).or_default());
        drop(databases);
        let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);

        let begun = Instant::now();
        let root = fs::OpenOptions::new()
            .read(true)
            .open(&objects)
            .step("open", &objects)?;
        let root = OwnedFd::from(root);
        let kind = Kind::of(&root).step("look at", &objects)?;
        if kind == Kind::Memory {
            return Ok(());
        }
        // What comes after the look, and isn't flushed now, is new to the next.
        let now = Folders::look(&root, &objects)?;
        let news = match &*known {
            Known::Failed => return Err(io::Error::other(LOST)).step("flush", &objects),
            Known::Flushed(earlier, young) if kind == Kind::Dated => {
                gather(&root, &objects, &now, earlier, young)?
            }
            Known::Flushed(..) | Known::Nothing => None,
        };
        let (outcome, young) = match news {
            Some(news) => (news.flush(&root), news.all),
            None => (rustix::fs::syncfs(&root), Young::new()),
        };
        *known = match outcome {
            Ok(()) => Known::Flushed(now, young),
            // Nothing was given to the disk.
            Err(Errno::MFILE | Errno::NFILE | Errno::NOMEM) => Known::Nothing,
            // The system forgets what it could not write, and the next flush would succeed.
            Err(_) => Known::Failed,
        };
        outcome.step("flush", &objects)?;
        super::tell(begun, "the objects are on the disk");
        Ok(())
    }
}

/// What has come, by paths in the folder of the objects.
struct AllNews {
    files: Vec<String>,
    folders: Vec<String>,
    /// Every file that may have come, also those that are flushed already.
    all: Young,
}

impl AllNews {
    fn flush(&self, root: &OwnedFd) -> rustix::io::Result<()> {
        flush_files(root, &self.files)?;
        flush_folders(root, &self.folders)?;
        // Some of the folders may be new.
        rustix::fs::fsync(root)
    }
}

/// What may have come between `earlier` and `now`, apart from `young`; `None` if that is too much.
fn gather(
    root: &OwnedFd,
    objects: &Path,
    now: &Folders,
    earlier: &Folders,
    young: &Young,
) -> Result<Option<AllNews>> {
    let mut gathered = AllNews {
        files: Vec::new(),
        folders: Vec::new(),
        all: Young::new(),
    };
    let Some(all_news) = now.since(earlier) else {
        return Ok(None);
    };
    for news in all_news {
        let path = objects.join(&news.folder);
        let folder = match folders::open(root, &news.folder) {
            // Its objects have been packed since the look.
            Err(Errno::NOENT) => continue,
            opened => opened.step("open", &path)?,
        };
        let before = gathered.files.len();
        for (name, at) in news.files(&folder).step("list", &path)? {
            let file = (format!("{}/{name}", news.folder), at);
            if !young.contains(&file) {
                gathered.files.push(file.0.clone());
            }
            gathered.all.insert(file);
        }
        if gathered.all.len() > MOST_FILES {
            return Ok(None);
        }
        if gathered.files.len() > before {
            gathered.folders.push(news.folder);
        }
    }
    Ok(Some(gathered))
}

/// What is known of a file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Nothing in it survives the machine.
    Memory,
    /// It dates a folder when an entry of it comes, and a file when it is given a name.
    Dated,
    /// It may or may not.
    Other,
}

impl Kind {
    fn of(folder: &OwnedFd) -> rustix::io::Result<Self> {
        // The numbers are those of the kernel's `linux/magic.h`, and of ZFS's own headers.
        const TMPFS: u64 = 0x0102_1994;
        const DATED: [u64; 6] = [
            0xEF53,      // ext2, ext3 and ext4
            0x5846_5342, // XFS
            0x9123_683E, // btrfs
            0xF2F5_2010, // F2FS
            0x794C_7630, // overlayfs, over any of these
            0x2FC1_2FC1, // ZFS
        ];
        let found = rustix::fs::fstatfs(folder)?;
        #[expect(
            clippy::cast_sign_loss,
            reason = "the numbers are bit patterns of 32 bits"
        )]
        let magic = (found.f_type as u64) & 0xFFFF_FFFF;
        Ok(match magic {
            TMPFS => Self::Memory,
            magic if DATED.contains(&magic) => Self::Dated,
            _ => Self::Other,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_come_is_flushed_once_also_when_it_is_too_young_to_tell() {
        let objects = tempfile::tempdir().unwrap();
        let objects = objects.path();
        fs::create_dir(objects.join("ab")).unwrap();
        let root = fs::OpenOptions::new().read(true).open(objects).unwrap();
        let root = OwnedFd::from(root);
        let look = || Folders::look(&root, objects).unwrap();
        let first = look();
        fs::write(objects.join("ab/one"), "one").unwrap();
        let second = look();
        let news = gather(&root, objects, &second, &first, &Young::new());
        let news = news.unwrap().unwrap();
        assert_eq!(news.files, ["ab/one"]);
        assert_eq!(news.folders, ["ab"]);
        news.flush(&root).unwrap();
        fs::write(objects.join("ab/two"), "two").unwrap();
        let later = gather(&root, objects, &look(), &second, &news.all);
        assert_eq!(later.unwrap().unwrap().files, ["ab/two"]);
        fs::remove_dir_all(objects.join("ab")).unwrap();
        news.flush(&root).unwrap();
    }
}
