use std::fmt::Write as _;
use std::io;
use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use everruns_core::workspace::WorkspacePatch;
use sha1::{Digest as _, Sha1};

use super::diff::{MAX_FILES, Moved, PATIENCE};
use super::hunks;
use crate::memory::{File, Tree, TreeChange};
use crate::patch::{PatchContent, PatchEntry, PatchSide};

/// How many bytes a file may have to be compared line by line; a larger one is written whole.
const MAX_LINE_BYTES: usize = 8 << 20;
/// How many bytes a file may have to be in a patch at all.
const MAX_FILE_BYTES: usize = 64 << 20;
/// After how many bytes no further file is begun.
const MAX_BYTES: usize = 64 << 20;

/// The patch from one state to another, of the files after the first `skip`, `limit` at most.
pub(super) fn patch(
    before: &Tree,
    now: &Tree,
    skip: usize,
    limit: Option<usize>,
) -> io::Result<WorkspacePatch> {
    let Moved { found, origins } = Moved::between(before, now);
    let deadline = Instant::now().checked_add(PATIENCE);
    let mut patch = WorkspacePatch::default();
    let mut out = Vec::new();
    let mut left = found.iter().skip(skip);
    for change in left
        .by_ref()
        .take(limit.unwrap_or(MAX_FILES).min(MAX_FILES))
    {
        patch.files += 1;
        let origin = origins.get(change.path.relative());
        if !push(&mut out, change, origin, deadline)? {
            patch.omitted.push(change.path.relative().to_owned());
        }
        if out.len() >= MAX_BYTES {
            break;
        }
    }
    patch.truncated = left.next().is_some();
    patch.bytes = out.into();
    Ok(patch)
}

/// Appends one file; `false` when it is too large.
fn push(
    out: &mut Vec<u8>,
    change: &TreeChange,
    origin: Option<&TreeChange>,
    deadline: Option<Instant>,
) -> io::Result<bool> {
    let before = change.before.as_ref();
    let before = before.or_else(|| origin.and_then(|origin| origin.before.as_ref()));
    let after = change.after.as_ref();
    let bytes = |file: Option<&Arc<File>>| file.map(|file| file.bytes.clone()).unwrap_or_default();
    let (old, new) = (bytes(before), bytes(after));
    let is_same = before.map(|file| file.version) == after.map(|file| file.version);
    let is_larger = |limit: usize| old.len() > limit || new.len() > limit;
    if !is_same && is_larger(MAX_FILE_BYTES) {
        return Ok(false);
    }
    let places;
    let content = if is_same {
        PatchContent::Same
    } else if is_larger(MAX_LINE_BYTES) || hunks::is_binary(&old) || hunks::is_binary(&new) {
        PatchContent::Whole {
            old: &old,
            new: &new,
        }
    } else {
        places = hunks::places(&old, &new, deadline);
        PatchContent::Places(&places)
    };
    let id = |file: &Arc<File>| {
        // What is the same needs none to be applied.
        let id = if is_same {
            String::new()
        } else {
            blob_id(&file.bytes)
        };
        (file.git_mode(), id)
    };
    let [old, new] = [before.map(id), after.map(id)];
    let path = change.path.relative();
    let entry = PatchEntry {
        from: origin
            .map_or(path, |origin| origin.path.relative())
            .as_bytes(),
        to: path.as_bytes(),
        old: old.as_ref().map(side),
        new: new.as_ref().map(side),
    };
    entry.push(out, content)?;
    Ok(true)
}

fn side((mode, id): &(u32, String)) -> PatchSide<'_> {
    PatchSide { mode: *mode, id }
}

/// The id that Git gives a file's content in a repository of its usual format.
fn blob_id(bytes: &Bytes) -> String {
    let mut hash = Sha1::new();
    hash.update(format!("blob {}\0", bytes.len()));
    hash.update(bytes);
    let mut id = String::with_capacity(40);
    for byte in hash.finalize() {
        write!(id, "{byte:02x}").expect("writing to a string can't fail");
    }
    id
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_those_of_git() {
        let empty = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391";
        assert_eq!(blob_id(&Bytes::new()), empty);
        let hello = "ce013625030ba8dba906f756967f9e9ca394464a";
        assert_eq!(blob_id(&Bytes::from_static(b"hello\n")), hello);
    }
}
