//! The folder beside a database in which its successor is made, and what an earlier restoration left there.

use std::ffi::{OsStr, OsString};
use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use everruns_core::session::StoreError;

use super::super::backup::{failed, flush};
use super::alone::Alone;
use super::names::{flush_folder, remove, rename_free, with_suffix};
use super::run::REPLACE;

/// Added to the database's name.
const SUFFIX: &str = ".restoring";
/// The copy that is being made, and after the exchange the database before.
const COPY: &str = "copy";
/// What SQLite adds to a copy's name while it changes it.
const PARTS: [&str; 3] = ["-journal", "-wal", "-shm"];
/// The file that is made first. Without it the folder is somebody else's.
const MARK: &str = "mark";
const MARK_TEXT: &[u8] =
    b"everruns: a backup is being put in the place of the database beside this folder, 1\n";
/// What is noted before an exchange: the inode of the copy, and the name for the database before.
const NOTE: &str = "exchange";
const NEW_NOTE: &str = "exchange.new";

/// A folder of the restoration that is at work.
#[derive(Clone, Debug)]
pub(super) struct Workplace {
    folder: PathBuf,
}

impl Workplace {
    /// Makes it, after what a restoration left whose process ended has come to its end. `FileExists` where something of
    /// that name is not provably ours, or could be the work of another one, as without a lock.
    pub(super) fn make(alone: Option<&Alone>, location: &Path) -> Result<Self, StoreError> {
        let this = Self {
            folder: with_suffix(location, SUFFIX),
        };
        if alone.is_some() {
            this.end()?;
        }
        let made = std::fs::DirBuilder::new().mode(0o700).create(&this.folder);
        made.map_err(|error| this.judge(error))?;
        this.write(MARK, MARK_TEXT)?;
        this.flush()?;
        Ok(this)
    }

    pub(super) fn copy(&self) -> PathBuf {
        self.folder.join(COPY)
    }

    /// Notes what is about to be exchanged, so that who comes later sees whether it was.
    pub(super) fn note(&self, aside: &Path) -> Result<(), StoreError> {
        let copy = std::fs::symlink_metadata(self.copy());
        let inode = copy.map_err(|error| failed(REPLACE, error))?.ino();
        let name = aside.file_name().unwrap_or_default();
        let text = [format!("{inode}\n").as_bytes(), name.as_bytes()].concat();
        self.write(NEW_NOTE, &text)?;
        rename_free(&self.folder.join(NEW_NOTE), &self.folder.join(NOTE))?;
        self.flush()
    }

    /// Removes the folder with what was made in it, and gives a database that was exchanged the name that it was to have.
    /// Nothing else is removed: neither a folder that lacks our mark, nor what else is in one that has it.
    pub(super) fn end(&self) -> Result<(), StoreError> {
        match std::fs::symlink_metadata(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(failed(REPLACE, error)),
            Ok(found) if !found.is_dir() => return Err(self.is_not_ours()),
            Ok(_) => {}
        }
        if let Some(mark) = self.read(MARK)? {
            // One that is cut off is of a machine that lost its power, before anything else was made.
            if !MARK_TEXT.starts_with(&mark) {
                return Err(self.is_not_ours());
            }
            if mark == MARK_TEXT {
                self.end_copy()?;
            }
            remove(self.folder.join(MARK))?;
        }
        std::fs::remove_dir(&self.folder).map_err(|error| self.judge(error))?;
        flush_folder(&self.folder)
    }

    fn end_copy(&self) -> Result<(), StoreError> {
        let copy = self.copy();
        if let Some((inode, aside)) = self.noted()? {
            match std::fs::symlink_metadata(&copy) {
                Ok(found) if found.ino() != inode => {
                    rename_free(&copy, &self.folder.with_file_name(aside))?;
                    flush_folder(&self.folder)?;
                }
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(failed(REPLACE, error));
                }
                _ => {}
            }
        }
        remove(copy.clone())?;
        for part in PARTS {
            remove(with_suffix(&copy, part))?;
        }
        remove(self.folder.join(NEW_NOTE))?;
        // Only when nothing is left that it tells of.
        remove(self.folder.join(NOTE))
    }

    fn noted(&self) -> Result<Option<(u64, OsString)>, StoreError> {
        let Some(text) = self.read(NOTE)? else {
            return Ok(None);
        };
        let parsed = || {
            let end = text.iter().position(|byte| *byte == b'\n')?;
            let inode = std::str::from_utf8(&text[..end]).ok()?.parse().ok()?;
            let name = OsString::from_vec(text[end + 1..].to_vec());
            (Path::new(&name).file_name() == Some(OsStr::new(&name))).then_some((inode, name))
        };
        parsed().map(Some).ok_or_else(|| self.is_not_ours())
    }

    fn read(&self, name: &str) -> Result<Option<Vec<u8>>, StoreError> {
        match std::fs::read(self.folder.join(name)) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(failed(REPLACE, error)),
        }
    }

    fn write(&self, name: &str, text: &[u8]) -> Result<(), StoreError> {
        let mut options = OpenOptions::new();
        let file = options
            .write(true)
            .create_new(true)
            .open(self.folder.join(name));
        let written = file.and_then(|mut file| {
            file.write_all(text)?;
            file.sync_all()
        });
        written.map_err(|error| failed(REPLACE, error))
    }

    /// What is in it, and itself.
    pub(super) fn flush(&self) -> Result<(), StoreError> {
        flush(&self.folder).map_err(|error| failed(REPLACE, error))?;
        flush_folder(&self.folder)
    }

    fn is_not_ours(&self) -> StoreError {
        StoreError::FileExists {
            location: self.folder.clone(),
        }
    }

    fn judge(&self, error: io::Error) -> StoreError {
        match error.kind() {
            io::ErrorKind::AlreadyExists | io::ErrorKind::DirectoryNotEmpty => self.is_not_ours(),
            _ => failed(REPLACE, error),
        }
    }
}
