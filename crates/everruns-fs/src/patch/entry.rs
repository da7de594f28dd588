use std::io;
use std::ops::Range;

use everruns_core::workspace::DiffLineKind;

use super::{binary, quote};

/// What a file is before or after a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PatchSide<'a> {
    /// Its mode in Git's terms, such as `0o100644`.
    pub mode: u32,
    /// The id, in hexadecimal digits, that Git gives its content: binary contents are only applied with it.
    pub id: &'a str,
}

/// One changed place of a text. Ranges are of lines counted from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatchPlace<'a> {
    /// The lines before, context included.
    pub old: Range<usize>,
    /// The lines after, context included.
    pub new: Range<usize>,
    /// The lines, each with its line feed if it has one.
    pub lines: Vec<(DiffLineKind, &'a [u8])>,
}

/// How the content of a file changes.
#[derive(Clone, Copy, Debug)]
pub enum PatchContent<'a> {
    /// Not at all.
    Same,
    /// In these places.
    Places(&'a [PatchPlace<'a>]),
    /// As a whole.
    Whole {
        /// All bytes before; none where there was no file.
        old: &'a [u8],
        /// All bytes after; none where there is no file.
        new: &'a [u8],
    },
}

/// One file of a patch.
#[derive(Clone, Copy, Debug)]
pub struct PatchEntry<'a> {
    /// Its path before; the same as after unless it moved.
    pub from: &'a [u8],
    /// Its path after.
    pub to: &'a [u8],
    /// What it was; `None` when it is new.
    pub old: Option<PatchSide<'a>>,
    /// What it is; `None` when it is gone.
    pub new: Option<PatchSide<'a>>,
}

impl PatchEntry<'_> {
    /// Appends the file to the patch `out`.
    ///
    /// # Errors
    /// When a whole content can't be compressed, for want of memory.
    pub fn push(&self, out: &mut Vec<u8>, content: PatchContent<'_>) -> io::Result<()> {
        self.push_header(out);
        match content {
            PatchContent::Same => {}
            PatchContent::Places(places) => {
                self.push_ids(out);
                self.push_places(out, places);
            }
            PatchContent::Whole { old, new } => {
                self.push_ids(out);
                binary::push(out, old, new)?;
            }
        }
        Ok(())
    }

    fn push_header(&self, out: &mut Vec<u8>) {
        words(out, "diff --git ");
        quote::push(out, "a/", self.from);
        words(out, " ");
        quote::push(out, "b/", self.to);
        words(out, "\n");
        match (self.old, self.new) {
            (None, Some(new)) => words(out, &format!("new file mode {}\n", mode(new))),
            (Some(old), None) => words(out, &format!("deleted file mode {}\n", mode(old))),
            (Some(old), Some(new)) if old.mode != new.mode => {
                words(
                    out,
                    &format!("old mode {}\nnew mode {}\n", mode(old), mode(new)),
                );
            }
            _ => {}
        }
        if self.from == self.to {
            return;
        }
        if self.old.map(|side| side.id) == self.new.map(|side| side.id) {
            words(out, "similarity index 100%\n");
        }
        for (moved, path) in [("rename from ", self.from), ("rename to ", self.to)] {
            words(out, moved);
            quote::push(out, "", path);
            words(out, "\n");
        }
    }

    fn push_ids(&self, out: &mut Vec<u8>) {
        let null = |other: Option<PatchSide<'_>>| "0".repeat(other.map_or(0, |side| side.id.len()));
        let old = self
            .old
            .map_or_else(|| null(self.new), |side| side.id.to_owned());
        let new = self
            .new
            .map_or_else(|| null(self.old), |side| side.id.to_owned());
        words(out, &format!("index {old}..{new}"));
        if let (Some(old), Some(new)) = (self.old, self.new)
            && old.mode == new.mode
        {
            words(out, &format!(" {}", mode(new)));
        }
        words(out, "\n");
    }

    fn push_places(&self, out: &mut Vec<u8>, places: &[PatchPlace<'_>]) {
        if places.is_empty() {
            return;
        }
        let sides = [
            ("--- ", "a/", self.from, self.old),
            ("+++ ", "b/", self.to, self.new),
        ];
        for (sign, prefix, path, side) in sides {
            words(out, sign);
            if side.is_none() {
                words(out, "/dev/null\n");
                continue;
            }
            quote::push(out, prefix, path);
            // It tells where a name with spaces ends.
            words(out, if path.contains(&b' ') { "\t\n" } else { "\n" });
        }
        for place in places {
            let (old, new) = (told(&place.old), told(&place.new));
            words(out, &format!("@@ -{old} +{new} @@\n"));
            for (kind, line) in &place.lines {
                out.push(match kind {
                    DiffLineKind::Context => b' ',
                    DiffLineKind::Added => b'+',
                    DiffLineKind::Removed => b'-',
                });
                out.extend_from_slice(line);
                if !line.ends_with(b"\n") {
                    words(out, "\n\\ No newline at end of file\n");
                }
            }
        }
    }
}

/// Lines counted from 1; an empty range is told by the line before it.
fn told(range: &Range<usize>) -> String {
    match range.len() {
        0 => format!("{},0", range.start),
        1 => (range.start + 1).to_string(),
        count => format!("{},{count}", range.start + 1),
    }
}

fn mode(side: PatchSide<'_>) -> String {
    format!("{:06o}", side.mode)
}

fn words(out: &mut Vec<u8>, words: &str) {
    out.extend_from_slice(words.as_bytes());
}
