//! Checkpoints that were to be forgotten, and heads that were to be archived.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, bail, ensure};
use everruns::session::SessionStore;
use everruns::{ArchiveReceipt, WorkspaceBinding, WorkspaceError, WorkspaceHead};

use super::removals::is_there;
use crate::child::Seen;
use crate::files::{Files, of_head};
use crate::place::{Place, listed};
use crate::project::Project;

pub(super) async fn check(
    place: &Place,
    project: &Project,
    store: &dyn SessionStore,
    seen: &[Seen],
) -> anyhow::Result<()> {
    let mut pruned = false;
    let mut last = None;
    for (index, seen_one) in seen.iter().enumerate() {
        match seen_one {
            Seen::Pruning { latest } => {
                pruned = true;
                last = latest.as_ref();
            }
            Seen::Pruned { removed } => {
                for reference in removed {
                    ensure!(!project.resolves(reference), "{reference} is back");
                }
            }
            Seen::Retiring {
                session,
                binding,
                files,
            } => {
                ensure!(is_there(store, session).await?, "{session} is gone");
                let archived = seen[index + 1..]
                    .iter()
                    .take_while(|later| !matches!(later, Seen::Retiring { .. }))
                    .find_map(|later| match later {
                        Seen::Archived(receipt) => Some(receipt.as_ref()),
                        _ => None,
                    });
                check_archived(place, binding, files, archived).await?;
            }
            _ => {}
        }
    }
    // What was the last one before may have been forgotten since.
    if let Some(last) = last {
        ensure!(project.resolves(last), "{last}, the last one, is gone");
    }
    if pruned {
        let faults = project.faults();
        ensure!(faults.is_empty(), "the repository is broken: {faults}");
    }
    Ok(())
}

/// An archived head does not open and keeps its files; one that is not is as it was.
async fn check_archived(
    place: &Place,
    binding: &WorkspaceBinding,
    files: &Files,
    archived: Option<&ArchiveReceipt>,
) -> anyhow::Result<()> {
    let id = &binding.head_id;
    let backend = Arc::clone(place.workspace().await?.backend());
    let found = match WorkspaceHead::reopen(backend, binding).await {
        Ok(_) if archived.is_some() => bail!("head {id} was archived and opens"),
        Ok(head) => of_head(&head).await?,
        Err(WorkspaceError::HeadArchived { .. }) => match archived {
            Some(receipt) => {
                let location = receipt.location.as_deref();
                listed(Path::new(location.context("worktrees are somewhere")?))?
            }
            // It was archived, and killed before it could say where.
            None => return Ok(()),
        },
        Err(error) => return Err(error.into()),
    };
    ensure!(found == *files, "the files of head {id} are {found:?}");
    Ok(())
}
