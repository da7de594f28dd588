//! The references that keep checkpoints, numbered from 1.

use std::{fs, io};

use gix::ObjectId;

use super::{Captured, commit};
use crate::error::{GitError, GitStep as _, IoStep as _, Result};
use crate::repository::moved_at;

/// A checkpoint that is kept.
#[derive(Debug, Clone)]
pub(crate) struct Checkpoint {
    /// The head it was taken of.
    pub(crate) head: String,
    /// Its number in that head.
    pub(crate) number: u64,
    /// The commit that stands for it.
    pub(crate) id: ObjectId,
    /// The state that it holds.
    pub(crate) state: Captured,
    /// What its maker called it.
    pub(crate) label: Option<String>,
    /// Whether it holds work that no commit of the branch holds.
    pub(crate) uncommitted: bool,
    /// How many paths differ from the commit it builds on; none in those of before this was counted.
    pub(crate) changed: Option<u64>,
    /// When it was taken, in milliseconds since the epoch; of a clean state whose reference has no log any more, when
    /// that was committed.
    pub(crate) at: i64,
}

impl Checkpoint {
    /// The reference that keeps it.
    pub(crate) fn reference(&self) -> String {
        format!("{}{}", prefix(&self.head), self.number)
    }

    /// The checkpoint `number` of `head`, kept as the commit `id`.
    pub(crate) fn read(
        repository: &gix::Repository,
        head: &str,
        number: u64,
        id: ObjectId,
    ) -> Result<Self> {
        let (state, message) = commit::read(repository, id)?;
        let commit = repository.find_commit(id).git("read a checkpoint")?;
        let seconds = commit.time().git("read a checkpoint's time")?.seconds;
        let logged = if message.is_none() {
            let name = format!("{}{number}", prefix(head));
            moved_at(repository.common_dir(), &name, id)?
        } else {
            None
        };
        Ok(Self {
            head: head.to_owned(),
            number,
            id,
            changed: match &message {
                Some(message) => message.changed,
                None => Some(0),
            },
            uncommitted: !state.is_clean(),
            state,
            label: message.and_then(|message| message.label),
            at: logged.unwrap_or_else(|| seconds.saturating_mul(1000)),
        })
    }
}

/// What the names of a head's checkpoints start with.
fn prefix(head: &str) -> String {
    format!("refs/everruns/heads/{head}/checkpoints/")
}

/// The numbers and commits of the checkpoints of `head`, in the order of their numbers.
pub(crate) fn numbers(repository: &gix::Repository, head: &str) -> Result<Vec<(u64, ObjectId)>> {
    let prefix = prefix(head);
    let platform = repository.references().git("list the checkpoints")?;
    let mut found = Vec::new();
    for reference in platform
        .prefixed(prefix.as_str())
        .git("list the checkpoints")?
    {
        let reference = reference.git("list the checkpoints")?;
        let name = reference.name().as_bstr().to_string();
        let number = name
            .strip_prefix(&prefix)
            .and_then(|number| number.parse().ok());
        if let (Some(number), Some(id)) = (number, reference.try_id()) {
            found.push((number, id.detach()));
        }
    }
    found.sort_unstable();
    Ok(found)
}

/// The number and commit of the latest checkpoint of `head`, found without reading the others.
pub(crate) fn newest(repository: &gix::Repository, head: &str) -> Result<Option<(u64, ObjectId)>> {
    let step = "look for the latest checkpoint";
    let prefix = prefix(head);
    let mut latest = None;
    let folder = repository.common_dir().join(&prefix);
    match fs::read_dir(&folder) {
        Ok(entries) => {
            for entry in entries {
                let name = entry.step("list", &folder)?.file_name();
                latest = latest.max(name.to_str().and_then(|name| name.parse().ok()));
            }
        }
        Err(failure) if failure.kind() == io::ErrorKind::NotFound => {}
        Err(failure) => return Err(failure).step("list", &folder),
    }
    if let Some(packed) = repository.refs.cached_packed_buffer().git(step)? {
        for reference in packed.iter_prefixed(prefix.clone().into()).git(step)? {
            let name = reference.git(step)?.name.as_bstr();
            let number = name.strip_prefix(prefix.as_bytes());
            let number = number.and_then(|number| std::str::from_utf8(number).ok()?.parse().ok());
            latest = latest.max(number);
        }
    }
    let Some(number) = latest else {
        return Ok(None);
    };
    let reference = repository
        .find_reference(&format!("{prefix}{number}"))
        .git(step)?;
    Ok(reference.try_id().map(|id| (number, id.detach())))
}

/// The checkpoints of `head`, oldest first.
pub(crate) fn list(repository: &gix::Repository, head: &str) -> Result<Vec<Checkpoint>> {
    let numbers = numbers(repository, head)?;
    numbers
        .into_iter()
        .map(|(number, id)| Checkpoint::read(repository, head, number, id))
        .collect()
}

/// The checkpoint of `head` whose revision is `revision`.
pub(crate) fn find(repository: &gix::Repository, head: &str, revision: &str) -> Result<Checkpoint> {
    let unknown = || GitError::CheckpointUnknown {
        revision: revision.to_owned(),
    };
    let wanted = ObjectId::from_hex(revision.as_bytes()).map_err(|_| unknown())?;
    let numbers = numbers(repository, head)?;
    let (number, id) = numbers
        .into_iter()
        .find(|(_, id)| *id == wanted)
        .ok_or_else(unknown)?;
    Checkpoint::read(repository, head, number, id)
}
