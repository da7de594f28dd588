//! The record that ties a folder to a repository, as `git worktree add` writes it.

use std::fs;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use gix::ObjectId;

use crate::error::{IoStep as _, Result};
use crate::repository::{SIGNATURE_EMAIL, SIGNATURE_NAME, signature_time};
use crate::state::durable;

/// What a worktree's record says of its common directory.
pub(super) const COMMON_DIR: &[u8] = b"../..\n";

/// What a head's lock on its worktree record says first; the head's id and name follow.
pub(crate) const LOCK_REASON: &str = "everruns head ";

/// A head's worktree: the folder with its files and the record in the repository.
#[derive(Debug, Clone)]
pub(crate) struct Worktree {
    /// The record: `worktrees/<head>` in the common directory.
    pub(crate) record: PathBuf,
    /// The folder with the files.
    pub(crate) folder: PathBuf,
}

/// What a new record holds.
pub(crate) struct NewRecord<'a> {
    /// The full name of the branch.
    pub(crate) branch: &'a str,
    /// The commit that the branch is at; `None` if the branch is to be born by its first one.
    pub(crate) commit: Option<ObjectId>,
    /// Why nobody should remove the worktree.
    pub(crate) reason: &'a str,
    /// The time, in milliseconds since the epoch.
    pub(crate) at: i64,
}

impl Worktree {
    /// The worktree of the head `id` at `folder`, of the repository at `common_dir`.
    pub(crate) fn new(common_dir: &Path, id: &str, folder: PathBuf) -> Self {
        Self {
            record: common_dir.join("worktrees").join(id),
            folder,
        }
    }

    /// What the record's `gitdir` file must hold.
    pub(super) fn forward(&self) -> Vec<u8> {
        let mut bytes = self.folder.join(".git").as_os_str().as_bytes().to_vec();
        bytes.push(b'\n');
        bytes
    }

    /// What the folder's `.git` file must hold.
    pub(super) fn backward(&self) -> Vec<u8> {
        let mut bytes = b"gitdir: ".to_vec();
        bytes.extend_from_slice(self.record.as_os_str().as_bytes());
        bytes.push(b'\n');
        bytes
    }

    /// Writes the record, and the folder with nothing but its link to the record.
    ///
    /// The lock comes first: from its first moment on, no `git worktree prune` takes the record for a stale one.
    pub(crate) fn register(&self, new: &NewRecord<'_>) -> Result<()> {
        let all = self.record.parent().unwrap_or(&self.record);
        fs::create_dir_all(all).step("create", all)?;
        fs::create_dir(&self.record).step("create the worktree record", &self.record)?;
        self.write("locked", format!("{}\n", new.reason).as_bytes())?;
        self.write("gitdir", &self.forward())?;
        self.write("commondir", COMMON_DIR)?;
        self.write("HEAD", format!("ref: {}\n", new.branch).as_bytes())?;
        if let Some(commit) = new.commit {
            self.write_log(commit, new.at)?;
        }
        durable::sync_folder(&self.record)?;
        durable::sync_folder(all)?;
        fs::create_dir_all(&self.folder).step("create the head's folder", &self.folder)?;
        write_new(&self.folder.join(".git"), &self.backward())?;
        durable::sync_folder(&self.folder)
    }

    fn write_log(&self, commit: ObjectId, at: i64) -> Result<()> {
        let folder = self.record.join("logs");
        fs::create_dir_all(&folder).step("create", &folder)?;
        let line = format!(
            "{} {} {SIGNATURE_NAME} <{SIGNATURE_EMAIL}> {}\teverruns: create head\n",
            commit.kind().null(),
            commit,
            signature_time(at),
        );
        write_new(&folder.join("HEAD"), line.as_bytes())
    }

    fn write(&self, name: &str, bytes: &[u8]) -> Result<()> {
        write_new(&self.record.join(name), bytes)
    }
}

/// Writes a file that must not exist yet, and flushes it.
fn write_new(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut file = fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(path)
        .step("create", path)?;
    file.write_all(bytes).step("write", path)?;
    file.sync_all().step("flush", path)
}
