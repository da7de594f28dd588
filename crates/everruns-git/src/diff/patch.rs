//! A difference as a patch that `git apply` takes, made of bytes as they are.

use std::path::Path;

use everruns_core::workspace::{FileChange, WorkspacePatch};
use everruns_fs::patch::{PatchContent, PatchEntry, PatchPlace, PatchSide};
use gix::ObjectId;
use gix::bstr::{BStr, ByteSlice as _};

use super::changed::{Changed, Side, changed, content};
use super::files::kind;
use super::{lines, text};
use crate::error::{IoStep as _, Result};
use crate::names::path_text;

/// How large a patch becomes.
#[derive(Debug, Clone, Copy)]
pub(super) struct PatchBounds {
    /// How many files are left out first.
    pub(super) skip: usize,
    /// How many files.
    pub(super) files: usize,
    /// How many bytes a file may have to be compared line by line; a larger one is written whole.
    pub(super) lines: u64,
    /// How many bytes a file may have to be in the patch at all.
    pub(super) content: u64,
    /// After how many bytes no further file is begun.
    pub(super) bytes: usize,
}

impl Default for PatchBounds {
    fn default() -> Self {
        Self {
            skip: 0,
            files: super::files::FILES,
            lines: 8 << 20,
            content: 64 << 20,
            bytes: 64 << 20,
        }
    }
}

/// The patch from the tree `old` to the tree `new`.
pub(super) fn write(
    repository: &gix::Repository,
    old: ObjectId,
    new: ObjectId,
    bounds: PatchBounds,
) -> Result<WorkspacePatch> {
    let changed = changed(repository, old, new)?;
    let mut patch = WorkspacePatch::default();
    let mut out = Vec::new();
    let mut left = changed.iter().skip(bounds.skip);
    for change in left.by_ref().take(bounds.files) {
        patch.files += 1;
        let written = Writer {
            repository,
            bounds,
            out: &mut out,
        }
        .file(change)?;
        if !written {
            patch.omitted.push(path_text(change.path.as_bstr()));
        }
        if out.len() >= bounds.bytes {
            break;
        }
    }
    patch.truncated = left.next().is_some();
    patch.bytes = out.into();
    Ok(patch)
}

/// Writes one file.
struct Writer<'a> {
    repository: &'a gix::Repository,
    bounds: PatchBounds,
    out: &'a mut Vec<u8>,
}

impl Writer<'_> {
    /// Writes `change`; `false` if it is too large.
    fn file(&mut self, change: &Changed) -> Result<bool> {
        let path = change.path.as_bstr();
        if kind(false, change.old, change.new) != FileChange::TypeChanged {
            let original = change.original.as_ref().map(|path| path.as_bstr());
            return self.change(original.unwrap_or(path), path, change.old, change.new);
        }
        // Another kind of entry is a removal and an addition, as in Git.
        let begun = self.out.len();
        let both = self.change(path, path, change.old, None)?
            && self.change(path, path, None, change.new)?;
        if !both {
            self.out.truncate(begun);
        }
        Ok(both)
    }

    fn change(
        &mut self,
        from: &BStr,
        to: &BStr,
        old: Option<Side>,
        new: Option<Side>,
    ) -> Result<bool> {
        let limit = self.bounds.content;
        let same = old.map(|side| side.id) == new.map(|side| side.id);
        let (before, after) = if same {
            (Vec::new(), Vec::new())
        } else {
            let before = content(self.repository, old, limit)?;
            let after = content(self.repository, new, limit)?;
            let (Some(before), Some(after)) = (before, after) else {
                return Ok(false);
            };
            (before, after)
        };
        let large = |content: &[u8]| content.len() as u64 > self.bounds.lines;
        let whole =
            large(&before) || large(&after) || text::is_binary(&before) || text::is_binary(&after);
        let places = if same || whole {
            Vec::new()
        } else {
            places(&before, &after)
        };
        let content = if same {
            PatchContent::Same
        } else if whole {
            PatchContent::Whole {
                old: &before,
                new: &after,
            }
        } else {
            PatchContent::Places(&places)
        };
        let [old, new] = [old, new].map(|side| side.map(|side| (side, side.id.to_string())));
        let entry = PatchEntry {
            from,
            to,
            old: old.as_ref().map(told),
            new: new.as_ref().map(told),
        };
        entry
            .push(self.out, content)
            .step("compress", Path::new("a file"))?;
        Ok(true)
    }
}

fn told((side, id): &(Side, String)) -> PatchSide<'_> {
    PatchSide {
        mode: u32::from(side.mode.value()),
        id,
    }
}

fn places<'a>(before: &'a [u8], after: &'a [u8]) -> Vec<PatchPlace<'a>> {
    let places = lines::compare(before, after).places.into_iter();
    let told = places.map(|place| PatchPlace {
        old: place.old.0..place.old.1,
        new: place.new.0..place.new.1,
        lines: place.lines,
    });
    told.collect()
}
