use std::sync::Arc;

use everruns_core::ids::WorkspaceId;
use everruns_core::workspace::{Workspace, WorkspaceError};

use super::Subject;
use crate::check::CheckResult;

/// Proves C02 for a backend
pub(super) async fn one_id_for_every_locator(subject: Subject) -> CheckResult {
    let first = subject.workspace().await?;
    for locator in subject.spellings.iter().chain([&subject.locator]) {
        let again = Workspace::open(Arc::clone(&subject.backend), locator).await?;
        ensure_eq!(again.id(), first.id(), "the workspace at {locator}");
    }
    let known = subject.backend.workspace(first.id()).await?;
    ensure_eq!(&known.id, first.id(), "the workspace by its id");
    ensure_eq!(
        &known.backend,
        subject.backend.id(),
        "the backend that keeps it"
    );
    ensure!(!known.name.is_empty(), "the workspace has no name");
    Ok(())
}

pub(super) async fn ids_outlive_the_process(subject: Subject) -> CheckResult {
    let second = subject.second().await;
    ensure_eq!(
        subject.backend.is_durable(),
        second.is_some(),
        "whether the backend is durable"
    );
    let Some(second) = second else { return Ok(()) };
    let first = subject.workspace().await?;
    ensure_eq!(second.id(), subject.backend.id(), "the backend's id");
    let again = second.open_workspace(&subject.locator).await?;
    ensure_eq!(again.id, *first.id(), "the workspace after a restart");
    let third = subject.second().await.unwrap_or(second);
    ensure_eq!(
        third.workspace(first.id()).await?.id,
        *first.id(),
        "the workspace by its id"
    );
    Ok(())
}

pub(super) async fn unknown_workspaces_are_not_found(subject: Subject) -> CheckResult {
    let id = WorkspaceId::new("no-such-workspace")?;
    refused!(
        subject.backend.workspace(&id).await,
        WorkspaceError::WorkspaceNotFound { workspace } if workspace == id,
        "an unknown workspace"
    );
    refused!(
        subject.backend.heads(&id).await,
        WorkspaceError::WorkspaceNotFound { .. },
        "the heads of an unknown workspace"
    );
    Ok(())
}

pub(super) async fn bad_locators_are_refused(subject: Subject) -> CheckResult {
    for locator in &subject.bad_locators {
        let result = subject.backend.open_workspace(locator).await;
        ensure!(
            !matches!(result, Ok(_) | Err(WorkspaceError::Provider { .. })),
            "the locator {locator:?} gave {result:?}, expected a typed refusal"
        );
    }
    Ok(())
}

pub(super) async fn other_workspaces_are_others(subject: Subject) -> CheckResult {
    let Some(other) = &subject.other else {
        return Ok(());
    };
    let (first, other) = (
        subject.workspace().await?,
        subject.backend.open_workspace(other).await?,
    );
    ensure!(
        first.id() != &other.id,
        "two workspaces have the id {}",
        other.id
    );
    subject.head("one").await?;
    let heads = subject.backend.heads(&other.id).await?;
    ensure!(heads.is_empty(), "the other workspace shows {heads:?}");
    Ok(())
}
