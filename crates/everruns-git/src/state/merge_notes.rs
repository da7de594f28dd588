//! The notes of a merge in a worktree, kept with its state.

use std::path::Path;

use gix::ObjectId;
use serde::{Deserialize, Serialize};

use super::{durable, path_text};
use crate::error::Result;

/// What names the commits being merged.
pub(crate) const HEAD: &str = "MERGE_HEAD";
/// The message of the merge to come.
pub(crate) const MESSAGE: &str = "MERGE_MSG";
/// How the merge was asked for.
pub(crate) const MODE: &str = "MERGE_MODE";
/// The tree that the merge made by itself.
const TREE: &str = "AUTO_MERGE";
/// What names the commit with the changes that were put aside for the merge.
const AUTOSTASH: &str = "MERGE_AUTOSTASH";

/// The notes by which Git knows that the next commit concludes a merge, as they are in their files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct MergeNotes {
    /// The commits being merged, a line each.
    heads: String,
    /// The message, whose bytes need be no text, as [`path_text`] writes it.
    #[serde(default)]
    message: String,
    #[serde(default)]
    mode: String,
    /// The commit with what was put aside for the merge, if something was.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    autostash: String,
}

impl MergeNotes {
    /// Those of the worktree with this Git directory; `None` when it is in no merge.
    pub(crate) fn read(git_dir: &Path) -> Result<Option<Self>> {
        let text = |name: &str| -> Result<Option<String>> {
            let bytes = durable::read(&git_dir.join(name))?;
            Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
        };
        let Some(heads) = text(HEAD)? else {
            return Ok(None);
        };
        let message = durable::read(&git_dir.join(MESSAGE))?.unwrap_or_default();
        Ok(Some(Self {
            heads,
            message: path_text::encode(&message),
            mode: text(MODE)?.unwrap_or_default(),
            autostash: text(AUTOSTASH)?.unwrap_or_default(),
        }))
    }

    /// Makes the notes of the worktree with this Git directory these, the deciding one last; or removes them.
    ///
    /// The notes that were there are in a checkpoint, which leads to what was put aside.
    pub(crate) fn put(notes: Option<&Self>, git_dir: &Path) -> Result<()> {
        if Self::read(git_dir)?.as_ref() == notes {
            return Ok(());
        }
        let autostash = git_dir.join(AUTOSTASH);
        let Some(notes) = notes else {
            // Otherwise the next commit would bring it into other files.
            durable::remove(&autostash)?;
            return Self::remove(git_dir);
        };
        let message = path_text::decode(&notes.message);
        let message = message.unwrap_or_else(|| notes.message.clone().into_bytes());
        durable::write(&git_dir.join(MESSAGE), &message)?;
        durable::write(&git_dir.join(MODE), notes.mode.as_bytes())?;
        if notes.autostash.is_empty() {
            durable::remove(&autostash)?;
        } else {
            durable::write(&autostash, notes.autostash.as_bytes())?;
        }
        durable::write(&git_dir.join(HEAD), notes.heads.as_bytes())
    }

    /// Removes the notes of a merge that is over. What was put aside for it stays noted.
    pub(crate) fn remove(git_dir: &Path) -> Result<()> {
        for name in [HEAD, MODE, MESSAGE, TREE] {
            durable::remove(&git_dir.join(name))?;
        }
        Ok(())
    }

    /// The commits being merged, and that with what was put aside for it, as far as they can be read.
    pub(crate) fn commits(&self) -> impl Iterator<Item = ObjectId> {
        let lines = self.heads.lines().chain(self.autostash.lines());
        lines.filter_map(|line| ObjectId::from_hex(line.trim().as_bytes()).ok())
    }
}
