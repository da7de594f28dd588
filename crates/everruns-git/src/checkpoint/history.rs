//! Telling the commits that checkpoints are made of from those of people.

use gix::ObjectId;

use super::commit::Message;
use crate::error::{GitError, GitStep as _, Result};

/// Fails if the commit `id`, which `revision` names, stands for a checkpoint with work that no commit holds.
pub(crate) fn expect_no_checkpoint(
    repository: &gix::Repository,
    revision: &str,
    id: ObjectId,
) -> Result<()> {
    match message_of(repository, id)? {
        Some(message) => Err(GitError::IsCheckpoint {
            revision: revision.to_owned(),
            head: message.head,
        }),
        None => Ok(()),
    }
}

/// Fails if the history of `tip`, apart from that of `known`, holds commits that checkpoints are made of; they would be
/// brought from the branch `from` into `into`.
///
/// The null id as `known` stands for no history at all.
pub(crate) fn expect_no_checkpoints(
    repository: &gix::Repository,
    (from, tip): (&str, ObjectId),
    (into, known): (&str, ObjectId),
) -> Result<()> {
    let step = "look through the history";
    let known = Some(known).filter(|known| !known.is_null());
    let walk = repository.rev_walk([tip]).with_hidden(known);
    for found in walk.all().git(step)? {
        let id = found.git(step)?.id;
        if message_of(repository, id)?.is_some() {
            return Err(GitError::CheckpointInHistory {
                from: from.to_owned(),
                into: into.to_owned(),
                commit: id.to_string(),
            });
        }
    }
    Ok(())
}

fn message_of(repository: &gix::Repository, id: ObjectId) -> Result<Option<Message>> {
    let step = "read a commit";
    let commit = repository.find_commit(id).git(step)?;
    Ok(Message::read(commit.message_raw().git(step)?))
}
