//! The proof, before each use, that a folder and its record are what the head's creation wrote.

use std::fs;
use std::io::Read as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rustix::fs::OFlags;

use super::Worktree;
use super::record::COMMON_DIR;
use crate::error::{GitError, IoStep as _, Result};

impl Worktree {
    /// Checks the folder and the record; an error means that something else took their place.
    pub(crate) fn verify(&self) -> Result<()> {
        self.verify_folder()?;
        let forged = |what| GitError::Forged {
            path: self.record.clone(),
            what,
        };
        match fs::symlink_metadata(&self.record) {
            Ok(meta) if meta.is_dir() => {}
            Ok(_) => return Err(forged("the worktree record is not a folder")),
            Err(failure) if failure.kind() == std::io::ErrorKind::NotFound => {
                return Err(forged("the repository has no record of this worktree"));
            }
            Err(failure) => return Err(failure).step("look at", &self.record),
        }
        expect(
            &self.folder.join(".git"),
            &self.backward(),
            "it doesn't name this head's record",
        )?;
        expect(
            &self.record.join("gitdir"),
            &self.forward(),
            "it doesn't name this head's folder",
        )?;
        expect(
            &self.record.join("commondir"),
            COMMON_DIR,
            "it names another repository",
        )
    }

    /// Checks that what was moved `aside` is this worktree's folder.
    pub(crate) fn verify_aside(&self, aside: &Path) -> Result<()> {
        expect(
            &aside.join(".git"),
            &self.backward(),
            "it doesn't name this head's record",
        )
    }

    fn verify_folder(&self) -> Result<()> {
        let missing = || GitError::WorktreeMissing {
            path: self.folder.clone(),
        };
        match fs::symlink_metadata(&self.folder) {
            Ok(meta) if meta.is_dir() => {}
            Ok(_) => {
                return Err(GitError::Forged {
                    path: self.folder.clone(),
                    what: "it is not a folder",
                });
            }
            Err(failure) if failure.kind() == std::io::ErrorKind::NotFound => return Err(missing()),
            Err(failure) => return Err(failure).step("look at", &self.folder),
        }
        let real = fs::canonicalize(&self.folder).step("resolve", &self.folder)?;
        if real == self.folder {
            Ok(())
        } else {
            Err(GitError::Forged {
                path: self.folder.clone(),
                what: "a folder above it became a link",
            })
        }
    }
}

/// Checks that `path` is a regular file with exactly these bytes.
fn expect(path: &Path, bytes: &[u8], what: &'static str) -> Result<()> {
    let forged = |what| GitError::Forged {
        path: path.to_owned(),
        what,
    };
    match fs::symlink_metadata(path) {
        Ok(meta) if meta.is_file() => {}
        Ok(_) => return Err(forged("it is not a regular file")),
        Err(failure) if failure.kind() == std::io::ErrorKind::NotFound => {
            return Err(forged("it is missing"));
        }
        Err(failure) => return Err(failure).step("look at", path),
    }
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits();
    let file = fs::OpenOptions::new()
        .read(true)
        .custom_flags(flags.cast_signed())
        .open(path)
        .step("open", path)?;
    let mut found = Vec::with_capacity(bytes.len() + 1);
    file.take(bytes.len() as u64 + 1)
        .read_to_end(&mut found)
        .step("read", path)?;
    if found == bytes {
        Ok(())
    } else {
        Err(forged(what))
    }
}

/// Whether `folder` is the worktree of the Git directory `git_dir`, by what is in the folder.
pub(crate) fn is_linked(folder: &Path, git_dir: &Path) -> Result<bool> {
    use std::os::unix::ffi::OsStrExt as _;
    let link = folder.join(".git");
    match fs::symlink_metadata(&link) {
        Ok(meta) if meta.is_dir() => {
            let real = fs::canonicalize(&link).step("resolve", &link)?;
            Ok(fs::canonicalize(git_dir).is_ok_and(|git_dir| git_dir == real))
        }
        Ok(meta) if meta.is_file() => {
            let content = crate::state::durable::read(&link)?.unwrap_or_default();
            let named = content.strip_prefix(b"gitdir:").map(<[u8]>::trim_ascii);
            let named = named.map(|named| folder.join(std::ffi::OsStr::from_bytes(named)));
            let real = |path: &Path| fs::canonicalize(path).ok();
            Ok(named
                .and_then(|named| real(&named))
                .is_some_and(|named| real(git_dir) == Some(named)))
        }
        _ => Ok(false),
    }
}
