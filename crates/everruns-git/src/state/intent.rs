//! Intents: operations under way, so that the next open can finish or undo what a crash cut short.

use std::collections::BTreeSet;
use std::fs;

use everruns_core::failpoint::hit;
use serde::{Deserialize, Serialize};

use crate::advance::Advance;

use super::layout::TURNED;
use super::{HeadRecord, Layout, durable, record};
use crate::error::{IoStep as _, Result};

/// What an operation is about to do to a head.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "operation")]
pub(crate) enum Operation {
    /// Make the head. It is undone unless its record says that it is ready.
    Create,
    /// Bring the head to a checkpoint. It is finished; or else undone, if it was turned back.
    Restore {
        /// The checkpoint's commit.
        checkpoint: String,
        /// The commit of the checkpoint with the state before.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        before: Option<String>,
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
    ///
    /// After a failure, what was recorded before is there again, or nothing; `NotUndone` if that can't be said.
    pub(crate) fn begin(&self, layout: &Layout) -> Result<()> {
        let id = &self.head.id;
        let earlier = Self::load(layout, id)?;
        let Err(failure) = self.save(layout) else {
            return Ok(());
        };
        // The new record may be there and only not be known to be on the disk.
        let taken_back = match (Self::load(layout, id), &earlier) {
            (Ok(found), earlier) if found == *earlier => Ok(()),
            (_, Some(earlier)) => earlier.save(layout),
            (_, None) => Self::clear(layout, id),
        };
        match taken_back {
            Ok(()) => Err(failure),
            Err(second) => Err(failure.not_undone(id, second)),
        }
    }

    /// Records the intent; after a failure, it may or may not be recorded.
    pub(crate) fn save(&self, layout: &Layout) -> Result<()> {
        record::save(&layout.intent(&self.head.id), self)?;
        Ok(hit("git.intent.after-save")?)
    }

    /// Turns a restore that failed in the middle back to the state before it.
    ///
    /// The record has both, and its name says which is meant: a full disk has no room for another record, but a file
    /// can be renamed on it.
    pub(crate) fn turn_back(layout: &Layout, id: &str) -> Result<()> {
        durable::rename(&layout.intent(id), &layout.turned_intent(id))
    }

    /// Forgets the intent on the head `id`: the operation is complete, or undone.
    pub(crate) fn clear(layout: &Layout, id: &str) -> Result<()> {
        durable::remove(&layout.intent(id))?;
        durable::remove(&layout.turned_intent(id))
    }

    /// The intent on the head `id`, if there is one.
    pub(crate) fn load(layout: &Layout, id: &str) -> Result<Option<Self>> {
        if let Some(intent) = record::load(&layout.intent(id))? {
            return Ok(Some(intent));
        }
        let turned: Option<Self> = record::load(&layout.turned_intent(id))?;
        Ok(turned.map(|mut intent| {
            if let Operation::Restore { checkpoint, before } = &mut intent.operation
                && let Some(before) = before.take()
            {
                *checkpoint = before;
            }
            intent
        }))
    }

    /// The ids of the heads with an operation under way.
    pub(crate) fn heads(layout: &Layout) -> Result<Vec<String>> {
        let folder = layout.intents();
        let mut heads = BTreeSet::new();
        for entry in fs::read_dir(&folder).step("list", &folder)? {
            let path = entry.step("list", &folder)?.path();
            if path
                .extension()
                .is_some_and(|extension| extension == "json" || extension == TURNED)
                && let Some(stem) = path.file_stem().and_then(|stem| stem.to_str())
            {
                heads.insert(stem.to_owned());
            }
        }
        Ok(heads.into_iter().collect())
    }
}
