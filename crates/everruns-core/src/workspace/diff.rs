use std::fmt::{self, Write as _};

use serde::{Deserialize, Serialize};

/// How two states of a head differ.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct WorkspaceDiff {
    /// Whether anything differs.
    pub changed: bool,
    /// The files that differ, sorted by path.
    pub files: Vec<FileDiff>,
    /// Whether files or hunks were left out because the difference is too large.
    pub truncated: bool,
    /// Where the next page starts, as [`DiffRequest::skip`](super::DiffRequest::skip), if more files differ than are told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<usize>,
}

impl WorkspaceDiff {
    /// Lines added in all files.
    pub fn added(&self) -> u64 {
        self.files.iter().map(|file| file.added).sum()
    }

    /// Lines removed in all files.
    pub fn removed(&self) -> u64 {
        self.files.iter().map(|file| file.removed).sum()
    }
}

/// What happened to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FileChange {
    /// It is new.
    Added,
    /// Its bytes or mode changed.
    Modified,
    /// It is gone.
    Deleted,
    /// It moved, perhaps with changes.
    Renamed,
    /// It became another kind of entry.
    TypeChanged,
}

/// How one file differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileDiff {
    /// Its path below the head now, or its last path when it is gone; bytes that are not UTF-8 escaped.
    pub path: String,
    /// Where a renamed file came from.
    pub original: Option<String>,
    /// What happened.
    pub change: FileChange,
    /// Its mode before, in Git's terms such as `0o100644`; `None` when it is new.
    pub old_mode: Option<u32>,
    /// Its mode now; `None` when it is gone.
    pub new_mode: Option<u32>,
    /// Whether either side is binary, as far as it was looked at; then there are no hunks and no counts.
    pub binary: bool,
    /// Whether its hunks were left out because it, or the difference, is too large. Where nothing was counted either, it was
    /// too large to be looked at. A page of this file alone tells more, and a patch may.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub omitted: bool,
    /// How many lines were added.
    pub added: u64,
    /// How many lines were removed.
    pub removed: u64,
    /// The changed places with three lines of context.
    pub hunks: Vec<Hunk>,
}

/// One changed place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hunk {
    /// First line before, counted from 1; 0 when there is none.
    pub old_start: u64,
    /// How many lines before.
    pub old_lines: u64,
    /// First line now, counted from 1; 0 when there is none.
    pub new_start: u64,
    /// How many lines now.
    pub new_lines: u64,
    /// The lines.
    pub lines: Vec<DiffLine>,
}

/// One line of a hunk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiffLine {
    /// Which side it is on.
    pub kind: DiffLineKind,
    /// Its text without the line feed, invalid UTF-8 replaced.
    pub text: String,
    /// Whether the file ends here without a line feed.
    pub no_newline: bool,
}

/// Which side of a difference a line is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DiffLineKind {
    /// On both.
    Context,
    /// Only now.
    Added,
    /// Only before.
    Removed,
}

impl fmt::Display for WorkspaceDiff {
    /// The difference as unified text, for people.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.files.iter().try_for_each(|file| file.fmt(f))?;
        if self.truncated {
            f.write_str("(more changes were left out)\n")
        } else {
            Ok(())
        }
    }
}

impl fmt::Display for FileDiff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let before = self.original.as_deref().unwrap_or(&self.path);
        writeln!(f, "diff --git a/{before} b/{}", self.path)?;
        match (self.old_mode, self.new_mode) {
            (None, Some(mode)) => writeln!(f, "new file mode {mode:06o}")?,
            (Some(mode), None) => writeln!(f, "deleted file mode {mode:06o}")?,
            (Some(old), Some(new)) if old != new => {
                writeln!(f, "old mode {old:06o}\nnew mode {new:06o}")?;
            }
            _ => {}
        }
        if let Some(original) = &self.original {
            writeln!(f, "rename from {original}\nrename to {}", self.path)?;
        }
        let side = |there: bool, prefix: char, path: &str| {
            if there {
                format!("{prefix}/{path}")
            } else {
                "/dev/null".to_owned()
            }
        };
        let old = side(self.old_mode.is_some(), 'a', before);
        let new = side(self.new_mode.is_some(), 'b', &self.path);
        if self.binary {
            return writeln!(f, "Binary files {old} and {new} differ");
        }
        if self.omitted {
            return writeln!(
                f,
                "Files {old} and {new} differ (too large to be shown here)"
            );
        }
        if !self.hunks.is_empty() {
            writeln!(f, "--- {old}\n+++ {new}")?;
        }
        self.hunks.iter().try_for_each(|hunk| hunk.fmt(f))
    }
}

impl fmt::Display for Hunk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let range = |start: u64, lines: u64| {
            if lines == 1 {
                start.to_string()
            } else {
                format!("{start},{lines}")
            }
        };
        writeln!(
            f,
            "@@ -{} +{} @@",
            range(self.old_start, self.old_lines),
            range(self.new_start, self.new_lines)
        )?;
        for line in &self.lines {
            f.write_char(match line.kind {
                DiffLineKind::Context => ' ',
                DiffLineKind::Added => '+',
                DiffLineKind::Removed => '-',
            })?;
            writeln!(f, "{}", line.text)?;
            if line.no_newline {
                writeln!(f, "\\ No newline at end of file")?;
            }
        }
        Ok(())
    }
}
