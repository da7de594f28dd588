//! What trees can't say about an index and a working tree.

use std::path::Path;

use gix::ObjectId;
use gix::bstr::BString;
use gix::objs::tree::EntryKind;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::error::{GitError, GitStep as _, Result};
use crate::state::{MergeNotes, PickNotes};

/// The manifest's file in its tree.
const FILE: &str = "manifest.json";

/// One side of a conflict in the index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StageEntry {
    /// The path.
    #[serde(with = "bytes_text")]
    pub(crate) path: BString,
    /// 1 for the base, 2 for ours, 3 for theirs.
    pub(crate) stage: u8,
    /// The mode in Git's terms.
    pub(crate) mode: u32,
    /// The content.
    #[serde(with = "crate::state::id_text")]
    pub(crate) id: ObjectId,
}

/// Something that was in the working tree and is in no tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Uncaptured {
    /// The path.
    #[serde(with = "bytes_text")]
    pub(crate) path: BString,
    /// Why it is in no tree.
    pub(crate) reason: String,
    /// Whether it can hold work that would be lost with it.
    #[serde(default)]
    pub(crate) holds_work: bool,
}

/// A path that is only announced in the index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Announced {
    /// The path.
    #[serde(with = "bytes_text")]
    pub(crate) path: BString,
    /// The mode in Git's terms.
    pub(crate) mode: u32,
}

/// Everything that a checkpoint holds besides its two trees.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Manifest {
    /// The conflicts in the index.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) stages: Vec<StageEntry>,
    /// The paths added with `git add --intent-to-add`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) announced: Vec<Announced>,
    /// What could not be captured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) uncaptured: Vec<Uncaptured>,
    /// The merge that the next commit concludes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) merge: Option<MergeNotes>,
    /// The cherry-pick or revert that the next commit goes on with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) pick: Option<PickNotes>,
}

impl Manifest {
    /// Whether the trees say it all.
    pub(crate) fn is_empty(&self) -> bool {
        self == &Self::default()
    }

    /// Has the worktree with this Git directory be in the middle of what this says, and of nothing else.
    pub(crate) fn note(&self, git_dir: &Path) -> Result<()> {
        // Both have a file for the message, so what goes, goes first.
        if self.pick.is_none() {
            PickNotes::put(None, git_dir)?;
            return MergeNotes::put(self.merge.as_ref(), git_dir);
        }
        MergeNotes::put(self.merge.as_ref(), git_dir)?;
        PickNotes::put(self.pick.as_ref(), git_dir)
    }

    /// Writes the manifest as a tree. It holds the conflicts' contents too, so that they are kept with it.
    pub(crate) fn write(&self, repository: &gix::Repository) -> Result<ObjectId> {
        let json = serde_json::to_vec_pretty(self).map_err(|source| GitError::CorruptRecord {
            path: FILE.into(),
            source,
        })?;
        let json = repository.write_blob(json).git("write the manifest")?;
        let empty = repository.empty_tree();
        let mut editor = empty.edit().git("begin the manifest's tree")?;
        editor
            .upsert(FILE, EntryKind::Blob, json.detach())
            .git("write the manifest's tree")?;
        for (number, entry) in self.stages.iter().enumerate() {
            if entry.mode != EntryKind::Commit as u32 {
                let name = format!("stages/{number}");
                editor
                    .upsert(name, EntryKind::Blob, entry.id)
                    .git("write the manifest's tree")?;
            }
        }
        Ok(editor.write().git("write the manifest's tree")?.detach())
    }

    /// Reads the manifest from its tree.
    pub(crate) fn read(repository: &gix::Repository, tree: ObjectId) -> Result<Self> {
        let tree = repository.find_tree(tree).git("read the manifest's tree")?;
        let entry = tree
            .lookup_entry_by_path(FILE)
            .git("read the manifest's tree")?;
        let Some(entry) = entry else {
            return Ok(Self::default());
        };
        let blob = entry.object().git("read the manifest")?;
        serde_json::from_slice(&blob.data).map_err(|source| GitError::CorruptRecord {
            path: FILE.into(),
            source,
        })
    }
}

/// Paths as text: percent-encoded where they aren't printable ASCII.
mod bytes_text {
    use super::{BString, Deserialize as _, Deserializer, Serializer};
    use crate::state::path_text;

    pub(super) fn serialize<S: Serializer>(
        path: &BString,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&path_text::encode(path))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<BString, D::Error> {
        let text = String::deserialize(deserializer)?;
        let bytes = path_text::decode(&text);
        bytes
            .map(BString::from)
            .ok_or_else(|| serde::de::Error::custom("not an encoded path"))
    }
}
