//! What an index that is written again may go on saying of files.
//!
//! A file that is changed right after its index was written can look as it did: with the same size, and a time within
//! the same tick of the clock or, for a Git that only looks at seconds, within the same second. Readers know, and read what is as
//! young as its index. A newer index makes it look old, so what it takes over has to be certain.

use std::path::{Path, PathBuf};

use gix::bstr::BStr;
use gix::index::entry::Stat;

/// Tells what is certain of an index that describes the files in a folder.
pub(super) struct Certain {
    folder: PathBuf,
    /// When the index was written: seconds, and nanoseconds in that second.
    written: (u32, u32),
}

impl Certain {
    pub(super) fn of(index: &gix::index::State, folder: &Path) -> Self {
        let timestamp = index.timestamp();
        let seconds = u32::try_from(timestamp.unix_seconds()).unwrap_or(u32::MAX);
        Self {
            folder: folder.to_owned(),
            written: (seconds, timestamp.nanoseconds()),
        }
    }

    /// Whether the file at `path` is still the one that `stat` was noted of.
    pub(super) fn is(&self, path: &BStr, stat: &Stat) -> bool {
        let changed = (stat.mtime.secs, stat.mtime.nsecs);
        if changed.0 < self.written.0 {
            return true;
        }
        changed < self.written && self.has(path, stat)
    }

    /// Whether the file at `path` has the time and size of `stat` now.
    fn has(&self, path: &BStr, stat: &Stat) -> bool {
        let Ok(native) = gix::path::from_bstr(path) else {
            return false;
        };
        let path = self.folder.join(native);
        let found = gix::index::fs::Metadata::from_path_no_follow(&path);
        let found = found.ok().and_then(|found| Stat::from_fs(&found).ok());
        found.is_some_and(|found| found.mtime == stat.mtime && found.size == stat.size)
    }
}
