//! Durable names in a working tree.

use std::collections::BTreeSet;
use std::time::Instant;

use gix::bstr::{BStr, ByteSlice as _};

use super::tell;
use crate::error::Result;
use crate::files::Files;

/// Makes durable what is at `paths` and what is no longer there: each folder above any of them is flushed once.
///
/// The content of files is flushed when it is written.
pub(crate) fn flush_folders_of<'a>(
    files: &Files,
    paths: impl Iterator<Item = &'a BStr>,
) -> Result<()> {
    let mut folders = BTreeSet::new();
    for path in paths {
        let mut rest = path;
        loop {
            let above = rest
                .rfind_byte(b'/')
                .map_or(BStr::new(""), |at| rest[..at].as_bstr());
            // What is above a folder that was seen was seen with it.
            if !folders.insert(above) || above.is_empty() {
                break;
            }
            rest = above;
        }
    }
    if folders.is_empty() {
        return Ok(());
    }
    let begun = Instant::now();
    for folder in folders {
        files.flush_folder(folder)?;
    }
    tell(begun, "the names of the files are on the disk");
    Ok(())
}
