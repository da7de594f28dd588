//! A difference as a patch that `git apply` takes, made of bytes as they are.

use everruns_core::workspace::{DiffLineKind, FileChange, WorkspacePatch};
use gix::ObjectId;
use gix::bstr::{BStr, ByteSlice as _};

use super::changed::{Changed, Side, changed, content};
use super::files::kind;
use super::{binary, lines, quote, text};
use crate::error::Result;
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
        self.header(from, to, old, new);
        if same {
            return Ok(true);
        }
        self.ids(old, new);
        let large = |content: &[u8]| content.len() as u64 > self.bounds.lines;
        let whole =
            large(&before) || large(&after) || text::is_binary(&before) || text::is_binary(&after);
        if whole {
            binary::push(self.out, &before, &after)?;
        } else {
            self.text(from, to, old, new, &lines::compare(&before, &after));
        }
        Ok(true)
    }

    fn header(&mut self, from: &BStr, to: &BStr, old: Option<Side>, new: Option<Side>) {
        self.words("diff --git ");
        quote::push(self.out, "a/", from);
        self.words(" ");
        quote::push(self.out, "b/", to);
        self.words("\n");
        match (old, new) {
            (None, Some(new)) => self.words(&format!("new file mode {}\n", mode(new))),
            (Some(old), None) => self.words(&format!("deleted file mode {}\n", mode(old))),
            (Some(old), Some(new)) if old.mode != new.mode => {
                self.words(&format!("old mode {}\nnew mode {}\n", mode(old), mode(new)));
            }
            _ => {}
        }
        if from != to {
            if old.map(|side| side.id) == new.map(|side| side.id) {
                self.words("similarity index 100%\n");
            }
            for (words, path) in [("rename from ", from), ("rename to ", to)] {
                self.words(words);
                quote::push(self.out, "", path);
                self.words("\n");
            }
        }
    }

    /// The contents' ids, whole, because binary contents are only applied with them.
    fn ids(&mut self, old: Option<Side>, new: Option<Side>) {
        let null = self.repository.object_hash().null();
        let id = |side: Option<Side>| side.map_or(null, |side| side.id);
        self.words(&format!("index {}..{}", id(old), id(new)));
        if let (Some(old), Some(new)) = (old, new)
            && old.mode == new.mode
        {
            self.words(&format!(" {}", mode(new)));
        }
        self.words("\n");
    }

    fn text(
        &mut self,
        from: &BStr,
        to: &BStr,
        old: Option<Side>,
        new: Option<Side>,
        lines: &lines::Lines<'_>,
    ) {
        if lines.places.is_empty() {
            return;
        }
        for (words, prefix, path, side) in [("--- ", "a/", from, old), ("+++ ", "b/", to, new)] {
            self.words(words);
            if side.is_none() {
                self.words("/dev/null\n");
                continue;
            }
            quote::push(self.out, prefix, path);
            // It tells where a name with spaces ends.
            let ends = if path.contains(&b' ') { "\t\n" } else { "\n" };
            self.words(ends);
        }
        for place in &lines.places {
            let range = |(from, to): (usize, usize)| {
                let start = lines::start((from, to));
                match to - from {
                    1 => start.to_string(),
                    count => format!("{start},{count}"),
                }
            };
            self.words(&format!(
                "@@ -{} +{} @@\n",
                range(place.old),
                range(place.new)
            ));
            for (kind, line) in &place.lines {
                self.out.push(match kind {
                    DiffLineKind::Context => b' ',
                    DiffLineKind::Added => b'+',
                    DiffLineKind::Removed => b'-',
                });
                self.out.extend_from_slice(line);
                if !line.ends_with(b"\n") {
                    self.words("\n\\ No newline at end of file\n");
                }
            }
        }
    }

    fn words(&mut self, words: &str) {
        self.out.extend_from_slice(words.as_bytes());
    }
}

fn mode(side: Side) -> String {
    format!("{:06o}", side.mode.value())
}
