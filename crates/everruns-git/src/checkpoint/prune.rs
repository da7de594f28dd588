//! Forgetting checkpoints, when somebody asks for it.

use std::collections::BTreeSet;

use everruns_core::failpoint::hit;

use super::reference::{Checkpoint, numbers};
use crate::error::Result;
use crate::repository::Refs;

/// What was forgotten and what is left.
#[derive(Debug)]
pub(crate) struct Pruned {
    /// The forgotten checkpoints, oldest first.
    pub(crate) removed: Vec<Checkpoint>,
    /// How many are left.
    pub(crate) kept: u64,
}

/// Forgets all but the latest `keep` checkpoints of `head`, and those whose reference or commit is in `needed`.
///
/// The latest one always stays, because its number must not be given again. The caller holds the head's lock, and the
/// lock of what Git shares.
pub(crate) fn prune(
    repository: &gix::Repository,
    head: &str,
    keep: usize,
    needed: &BTreeSet<String>,
    at: i64,
) -> Result<Pruned> {
    let all = numbers(repository, head)?;
    let candidates = all.len().saturating_sub(keep.max(1));
    let mut removed = Vec::new();
    for &(number, id) in all.iter().take(candidates) {
        let checkpoint = Checkpoint::read(repository, head, number, id)?;
        if !needed.contains(&checkpoint.reference()) && !needed.contains(&id.to_string()) {
            removed.push(checkpoint);
        }
    }
    hit("git.prune.after-choice")?;
    let references = removed
        .iter()
        .map(|checkpoint| (checkpoint.reference(), checkpoint.id));
    Refs::new(repository, at).delete_all(references)?;
    hit("git.prune.after-references")?;
    Ok(Pruned {
        kept: (all.len() - removed.len()) as u64,
        removed,
    })
}
