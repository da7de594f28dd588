//! The files by which Git knows that a worktree is in the middle of a merge.

use std::path::Path;

use gix::ObjectId;
use serde::{Deserialize, Serialize};

use super::Advance;
use crate::error::{GitError, Result};
use crate::state::merge_notes::{HEAD, MESSAGE, MODE};
use crate::state::{MergeNotes, durable, id_text};

/// What happens to the notes of a merge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "state")]
pub(crate) enum MergeState {
    /// Nothing: there is no merge.
    None,
    /// They are written: the next commit concludes the merge.
    Begin {
        /// The commit being merged.
        #[serde(with = "id_text")]
        head: ObjectId,
        /// The message.
        message: String,
    },
    /// They go: the merge is concluded by the commit.
    Conclude {
        /// The commit being merged.
        #[serde(with = "id_text")]
        head: ObjectId,
    },
}

/// A merge under way in the worktree.
#[derive(Debug, Clone)]
pub(crate) struct Merging {
    /// The commits being merged.
    pub(crate) heads: Vec<ObjectId>,
    /// The message that was prepared, without the comments in it.
    pub(crate) message: String,
}

/// The merge under way in the worktree, if there is one; an error if something else is.
pub(crate) fn merging(worktree: &gix::Repository) -> Result<Option<Merging>> {
    use gix::state::InProgress;
    let operation = match worktree.state() {
        // A bisection moves nothing by itself.
        None | Some(InProgress::Bisect) => return Ok(None),
        Some(InProgress::Merge) => {
            let heads = heads(worktree.git_dir())?;
            let message = durable::read(&worktree.git_dir().join(MESSAGE))?.unwrap_or_default();
            let message = String::from_utf8_lossy(&message)
                .lines()
                .filter(|line| !line.starts_with('#'))
                .fold(String::new(), |text, line| text + line + "\n");
            return Ok(Some(Merging { heads, message }));
        }
        Some(InProgress::CherryPick | InProgress::CherryPickSequence) => "cherry-pick",
        Some(InProgress::Revert | InProgress::RevertSequence) => "revert",
        Some(InProgress::ApplyMailbox) => "patch series",
        Some(_) => "rebase",
    };
    Err(GitError::UnderWay {
        operation: operation.to_owned(),
    })
}

/// The commits being merged in the worktree with this Git directory.
fn heads(git_dir: &Path) -> Result<Vec<ObjectId>> {
    let text = durable::read(&git_dir.join(HEAD))?.unwrap_or_default();
    text.split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| {
            ObjectId::from_hex(line.trim_ascii()).map_err(|_| GitError::UnderWay {
                operation: "merge of something unreadable".to_owned(),
            })
        })
        .collect()
}

impl Advance {
    /// Writes or removes the notes, the deciding one last.
    pub(super) fn note_merge(&self) -> Result<()> {
        let at = |name: &str| self.git_dir.join(name);
        match &self.merge {
            MergeState::None => Ok(()),
            MergeState::Begin { head, message } => {
                durable::write(&at(MESSAGE), message.as_bytes())?;
                durable::write(&at(MODE), b"")?;
                durable::write(&at(HEAD), format!("{head}\n").as_bytes())
            }
            MergeState::Conclude { head } => {
                // After a crash, the notes may be those of a later merge already.
                if heads(&self.git_dir)?.contains(head) {
                    MergeNotes::remove(&self.git_dir)?;
                }
                Ok(())
            }
        }
    }

    /// Whether the notes of this merge have been written, which is done last.
    pub(super) fn is_noted(&self) -> Result<bool> {
        match &self.merge {
            MergeState::Begin { head, .. } => Ok(heads(&self.git_dir)?.contains(head)),
            _ => Ok(false),
        }
    }
}
