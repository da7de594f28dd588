//! The notes of a cherry-pick or a revert in a worktree, kept with its state.

use std::collections::BTreeMap;
use std::path::Path;

use gix::ObjectId;
use serde::{Deserialize, Serialize};

use super::{durable, path_text};
use crate::error::{IoStep as _, Result};

/// The files each of which says that the operation is under way.
const DECIDING: [&str; 3] = ["CHERRY_PICK_HEAD", "REVERT_HEAD", "sequencer/todo"];
/// The files beside them.
const OTHERS: [&str; 4] = [
    "MERGE_MSG",
    "sequencer/abort-safety",
    "sequencer/head",
    "sequencer/opts",
];
/// The tree that the operation made by itself.
const TREE: &str = "AUTO_MERGE";
/// The folders of rebases, which pick commits too: what they note belongs to them.
const REBASES: [&str; 2] = ["rebase-merge", "rebase-apply"];

/// The notes by which Git knows that a cherry-pick or a revert is under way, as they are in their files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct PickNotes {
    /// The content of each file, whose bytes need be no text, as [`path_text`] writes it.
    files: BTreeMap<String, String>,
}

impl PickNotes {
    /// Whether a cherry-pick or a revert is under way in the worktree with this Git directory.
    pub(crate) fn are_in(git_dir: &Path) -> bool {
        let has = |name: &str| std::fs::symlink_metadata(git_dir.join(name)).is_ok();
        DECIDING.into_iter().any(has) && !REBASES.into_iter().any(has)
    }

    /// Those of the worktree with this Git directory; `None` when neither is under way.
    pub(crate) fn read(git_dir: &Path) -> Result<Option<Self>> {
        if !Self::are_in(git_dir) {
            return Ok(None);
        }
        let mut files = BTreeMap::new();
        for name in DECIDING.into_iter().chain(OTHERS) {
            if let Some(content) = durable::read(&git_dir.join(name))? {
                files.insert(name.to_owned(), path_text::encode(&content));
            }
        }
        Ok(Some(Self { files }))
    }

    /// Makes the notes of the worktree with this Git directory these; or removes them, the deciding ones last.
    pub(crate) fn put(notes: Option<&Self>, git_dir: &Path) -> Result<()> {
        let present = Self::read(git_dir)?;
        if present.as_ref() == notes {
            return Ok(());
        }
        let wanted = |name: &str| notes.and_then(|notes| notes.files.get(name));
        for name in OTHERS.into_iter().chain(DECIDING) {
            let path = git_dir.join(name);
            let Some(content) = wanted(name) else {
                durable::remove(&path)?;
                continue;
            };
            if let Some(folder) = path.parent() {
                std::fs::create_dir_all(folder).step("create", folder)?;
            }
            let bytes = path_text::decode(content);
            durable::write(
                &path,
                &bytes.unwrap_or_else(|| content.clone().into_bytes()),
            )?;
        }
        if notes.is_none() {
            durable::remove(&git_dir.join(TREE))?;
            // Git takes the empty folder for a sequence, too.
            drop(std::fs::remove_dir(git_dir.join("sequencer")));
        }
        Ok(())
    }

    /// The commits being picked or reverted, as far as they can be read.
    pub(crate) fn commits(&self) -> impl Iterator<Item = ObjectId> {
        let heads = ["CHERRY_PICK_HEAD", "REVERT_HEAD", "sequencer/head"];
        let contents = heads.into_iter().filter_map(|name| self.files.get(name));
        contents.filter_map(|id| ObjectId::from_hex(path_text::decode(id)?.trim_ascii()).ok())
    }
}
