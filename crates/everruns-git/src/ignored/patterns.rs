//! Which ignored files are asked for.

use std::io::Read as _;
use std::path::Path;

use gix::bstr::{BStr, ByteSlice as _};
use gix::glob::pattern::Case;
use rustix::fs::{CWD, Mode, OFlags};

use crate::error::{GitError, IoStep as _, Result};

/// The file with the patterns, at the root of a working tree.
const FILE: &str = ".worktreeinclude";

/// The largest such file that is read, in bytes.
const SIZE_LIMIT: u64 = 64 * 1024;

/// Patterns in Git's ignore syntax; the last one that matches decides.
#[derive(Debug)]
pub(crate) struct Patterns {
    search: gix::ignore::Search,
    is_empty: bool,
}

impl Patterns {
    /// The patterns in the file of the working tree at `root`, and `more` after them.
    pub(crate) fn read(root: Option<&Path>, more: &[String]) -> Result<Self> {
        let mut text = match root {
            Some(root) => read_file(root)?,
            None => Vec::new(),
        };
        for pattern in more {
            text.push(b'\n');
            text.extend_from_slice(pattern.as_bytes());
        }
        let mut search = gix::ignore::Search::default();
        let parse = gix::ignore::search::Ignore::default();
        search
            .add_patterns_buffer(&text, FILE, None, parse)
            .step("read the patterns of ignored files", Path::new(FILE))?;
        let is_empty = search.patterns.iter().all(|list| list.patterns.is_empty());
        Ok(Self { search, is_empty })
    }

    /// Whether nothing is asked for.
    pub(crate) fn is_empty(&self) -> bool {
        self.is_empty
    }

    /// Whether `path` itself, or a folder above it, is asked for.
    pub(super) fn select(&self, path: &BStr, is_folder: bool) -> bool {
        let above = path
            .find_iter(b"/")
            .any(|at| self.decides_for(path[..at].as_bstr(), true));
        above || self.decides_for(path, is_folder)
    }

    fn decides_for(&self, path: &BStr, is_folder: bool) -> bool {
        self.search
            .pattern_matching_relative_path(path, Some(is_folder), Case::Sensitive)
            .is_some_and(|found| !found.pattern.is_negative())
    }
}

/// The content of the file with the patterns, which must be a regular one; nothing if there is none.
fn read_file(root: &Path) -> Result<Vec<u8>> {
    let path = root.join(FILE);
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let handle = match rustix::fs::openat(CWD, &path, flags, Mode::empty()) {
        Ok(handle) => handle,
        Err(rustix::io::Errno::NOENT | rustix::io::Errno::LOOP) => return Ok(Vec::new()),
        Err(failure) => return Err(failure).step("open", &path),
    };
    let stat = rustix::fs::fstat(&handle).step("look at", &path)?;
    if rustix::fs::FileType::from_raw_mode(stat.st_mode) != rustix::fs::FileType::RegularFile {
        return Ok(Vec::new());
    }
    let mut text = Vec::new();
    crate::files::into_file(handle)
        .take(SIZE_LIMIT + 1)
        .read_to_end(&mut text)
        .step("read", &path)?;
    if text.len() as u64 > SIZE_LIMIT {
        return Err(GitError::Unsupported {
            path,
            reason: "it is larger than 64 KiB",
        });
    }
    Ok(text)
}
