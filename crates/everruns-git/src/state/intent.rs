//! Intents: operations under way, so that the next open can finish or undo what a crash cut short.

use std::fs;

use serde::{Deserialize, Serialize};

use crate::advance::Advance;

use super::{HeadRecord, Layout, durable, record};
use crate::error::{IoStep as _, Result};

/// What an operation is about to do to a head.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "operation")]
pub(crate) enum Operation {
    /// Make the head. It is undone unless its record says that it is ready.
    Create,
    /// Bring the head to a checkpoint. It is finished.
    Restore {
        /// The checkpoint's commit.
        checkpoint: String,
    },
    /// Remove the head's working tree. It is finished.
    Destroy {
        /// The ref that keeps what was uncommitted.
        kept: Option<String>,
    },
    /// Move a branch and the worktree that has it. It is finished, or undone if somebody changed what it changes.
    Advance(Box<Advance>),
}

/// An operation under way on a head; its writer holds the head's lock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Intent {
    /// The head as it is, or as it is going to be.
    pub(crate) head: HeadRecord,
    /// What is being done.
    #[serde(flatten)]
    pub(crate) operation: Operation,
}

impl Intent {
    /// Records the intent. From here on a crash is noticed.
    pub(crate) fn save(&self, layout: &Layout) -> Result<()> {
        record::save(&layout.intent(&self.head.id), self)
    }

    /// Forgets the intent on the head `id`: the operation is complete, or undone.
    pub(crate) fn clear(layout: &Layout, id: &str) -> Result<()> {
        durable::remove(&layout.intent(id))
    }

    /// The intent on the head `id`, if there is one.
    pub(crate) fn load(layout: &Layout, id: &str) -> Result<Option<Self>> {
        record::load(&layout.intent(id))
    }

    /// The ids of the heads with an operation under way.
    pub(crate) fn heads(layout: &Layout) -> Result<Vec<String>> {
        let folder = layout.intents();
        let mut heads = Vec::new();
        for entry in fs::read_dir(&folder).step("list", &folder)? {
            let path = entry.step("list", &folder)?.path();
            if path
                .extension()
                .is_some_and(|extension| extension == "json")
                && let Some(stem) = path.file_stem().and_then(|stem| stem.to_str())
            {
                heads.push(stem.to_owned());
            }
        }
        Ok(heads)
    }
}
