//! The commits that a checkpoint of uncommitted work is made of.

use std::fmt::Write as _;

use gix::ObjectId;
use gix::objs::Write as _;

use super::Captured;
use super::manifest::Manifest;
use crate::error::{GitStep as _, Result};
use crate::repository::{SIGNATURE_EMAIL, SIGNATURE_NAME};
use crate::state::{MergeNotes, PickNotes};

/// The line of a checkpoint's message that names its head.
const HEAD_TRAILER: &str = "Everruns-Head: ";
/// The line of a checkpoint's message that holds its label.
const LABEL_TRAILER: &str = "Everruns-Label: ";
/// The line of a checkpoint's message that says how many paths differ from its commit.
const CHANGED_TRAILER: &str = "Everruns-Changed: ";
/// The line of a checkpoint's message that says that its first parent stands for a branch without commits.
const UNBORN_LINE: &str = "Everruns-Unborn: true";

/// What a checkpoint's message says.
#[derive(Debug, Clone)]
pub(crate) struct Message {
    /// The head it was taken of.
    pub(crate) head: String,
    /// What its maker called it.
    pub(crate) label: Option<String>,
    /// How many paths differ from the commit it builds on; none in those of before this was counted.
    pub(crate) changed: Option<u64>,
    /// Whether the head's branch had no commit.
    pub(crate) unborn: bool,
}

impl Message {
    fn write(&self, subject: &str) -> String {
        let mut text = format!("everruns: {subject}\n\n{HEAD_TRAILER}{}\n", self.head);
        if let Some(label) = &self.label {
            let line: String = label
                .chars()
                .map(|c| if c.is_control() { ' ' } else { c })
                .collect();
            text.push_str(LABEL_TRAILER);
            text.push_str(&line);
            text.push('\n');
        }
        if let Some(changed) = self.changed {
            writeln!(text, "{CHANGED_TRAILER}{changed}").expect("writing to a string can't fail");
        }
        if self.unborn {
            writeln!(text, "{UNBORN_LINE}").expect("writing to a string can't fail");
        }
        text
    }

    /// Reads a checkpoint's message; `None` for any other commit's.
    pub(crate) fn read(text: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(text).ok()?;
        let value = |trailer| {
            text.lines()
                .find_map(|line| line.strip_prefix(trailer))
                .map(str::to_owned)
        };
        if !text.starts_with("everruns: ") {
            return None;
        }
        Some(Self {
            head: value(HEAD_TRAILER)?,
            label: value(LABEL_TRAILER),
            changed: value(CHANGED_TRAILER).and_then(|count| count.parse().ok()),
            unborn: text.lines().any(|line| line == UNBORN_LINE),
        })
    }
}

/// Writes the commits for `captured` to `repository`, which holds them back, and returns the one that stands for them.
pub(crate) fn write(
    repository: &gix::Repository,
    captured: &Captured,
    message: &Message,
    at: i64,
) -> Result<ObjectId> {
    let new = |subject: &str, tree: ObjectId, parents: &[ObjectId]| -> Result<ObjectId> {
        let signature = gix::actor::Signature {
            name: SIGNATURE_NAME.into(),
            email: SIGNATURE_EMAIL.into(),
            time: gix::date::Time::new(at.div_euclid(1000), 0),
        };
        let commit = gix::objs::Commit {
            tree,
            parents: parents.iter().copied().collect(),
            author: signature.clone(),
            committer: signature,
            encoding: None,
            message: message.write(subject).into(),
            extra_headers: Vec::new(),
        };
        repository.objects.write(&commit).git("write a commit")
    };
    // Git's own commands on a stash take the first parent for what the work builds on, so there always is one.
    let head = match captured.commit() {
        Some(head) => head,
        None => new("no commits yet", captured.head_tree, &[])?,
    };
    let mut parents = vec![head];
    parents.push(new("index", captured.index, &[head])?);
    if !captured.manifest.is_empty() {
        let tree = captured.manifest.write(repository)?;
        // What is being merged, and what was put aside for that, is kept with it.
        let picked = captured.manifest.pick.iter().flat_map(PickNotes::commits);
        let merged = captured.manifest.merge.iter();
        let merged = merged.flat_map(MergeNotes::commits).chain(picked);
        let merged: Vec<ObjectId> = merged.filter(|id| repository.has_object(id)).collect();
        parents.push(new("manifest", tree, &merged)?);
    }
    new("checkpoint", captured.files, &parents)
}

/// Reads back what [`write`] wrote as `id`; any other commit is a clean state of itself.
pub(crate) fn read(
    repository: &gix::Repository,
    id: ObjectId,
) -> Result<(Captured, Option<Message>)> {
    let commit = repository.find_commit(id).git("read a checkpoint")?;
    let tree_of = |id| -> Result<ObjectId> {
        let commit = repository.find_commit(id).git("read a checkpoint")?;
        Ok(commit.tree_id().git("read a checkpoint")?.detach())
    };
    let files = commit.tree_id().git("read a checkpoint")?.detach();
    let parents: Vec<ObjectId> = commit.parent_ids().map(gix::Id::detach).collect();
    let message = Message::read(commit.message_raw().git("read a checkpoint")?);
    if let (Some(message), [head, index, manifest @ ..]) = (message, parents.as_slice()) {
        let manifest = match manifest.first() {
            Some(manifest) => Manifest::read(repository, tree_of(*manifest)?)?,
            None => Manifest::default(),
        };
        let captured = Captured {
            head: if message.unborn {
                id.kind().null()
            } else {
                *head
            },
            head_tree: tree_of(*head)?,
            index: tree_of(*index)?,
            files,
            manifest,
        };
        return Ok((captured, Some(message)));
    }
    let captured = Captured {
        head: id,
        head_tree: files,
        index: files,
        files,
        manifest: Manifest::default(),
    };
    Ok((captured, None))
}
