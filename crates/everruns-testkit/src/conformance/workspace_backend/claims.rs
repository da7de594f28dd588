use std::sync::Arc;

use everruns_core::workspace::{WorkspaceError, WorkspaceHead};

use super::Subject;
use super::subject::{reopen, session};
use crate::check::{CheckResult, Failure};

/// Proves C06 where the head lives
pub(super) async fn one_session_claims_an_isolated_head(subject: Subject) -> CheckResult {
    if !subject.can.isolated {
        return Ok(());
    }
    let head = subject.head("mine").await?;
    let (a, b) = (session("ses_a")?, session("ses_b")?);
    head.release(&a).await?;
    head.claim(&a).await?;
    head.claim(&a).await?;
    let refusal = |result: Result<(), WorkspaceError>| -> CheckResult {
        refused!(
            result,
            WorkspaceError::HeadClaimed { head: of, session } if session == a && of == *head.id(),
            "a second session's claim"
        );
        Ok(())
    };
    refusal(head.claim(&b).await)?;
    // The release of a session without a claim frees nothing.
    head.release(&b).await?;
    refusal(head.claim(&b).await)?;
    head.release(&a).await?;
    head.claim(&b).await?;
    Ok(())
}

/// Proves C07 where the head lives
pub(super) async fn a_shared_head_takes_many(subject: Subject) -> CheckResult {
    if !subject.can.shared {
        return Ok(());
    }
    let head = subject
        .workspace()
        .await?
        .head("ours")
        .shared()
        .create()
        .await?;
    for text in ["ses_a", "ses_b", "ses_c", "ses_a"] {
        head.claim(&session(text)?).await?;
    }
    head.release(&session("ses_b")?).await?;
    head.claim(&session("ses_b")?).await?;
    Ok(())
}

/// Proves H51b for one process after the other
pub(super) async fn claims_outlive_the_process(subject: Subject) -> CheckResult {
    let Some(second) = subject.second().await else {
        return Ok(());
    };
    if !subject.can.isolated {
        return Ok(());
    }
    let head = subject.head("mine").await?;
    head.claim(&session("ses_a")?).await?;
    let again = WorkspaceHead::reopen(second, &head.binding()).await?;
    let result = again.claim(&session("ses_b")?).await;
    refused!(
        result,
        WorkspaceError::HeadClaimed { .. },
        "a claim through a second backend"
    );
    again.claim(&session("ses_a")?).await?;
    Ok(())
}

pub(super) async fn handles_share_the_claim(subject: Subject) -> CheckResult {
    if !subject.can.isolated {
        return Ok(());
    }
    let head = subject.head("mine").await?;
    head.claim(&session("ses_a")?).await?;
    let again = reopen(&head).await?;
    drop(head);
    let result = again.claim(&session("ses_b")?).await;
    refused!(
        result,
        WorkspaceError::HeadClaimed { .. },
        "a claim through another handle"
    );
    Ok(())
}

pub(super) async fn concurrent_claims_have_one_winner(subject: Subject) -> CheckResult {
    if !subject.can.isolated {
        return Ok(());
    }
    let head = subject.head("mine").await?;
    let second = subject
        .second()
        .await
        .unwrap_or_else(|| Arc::clone(&subject.backend));
    let elsewhere = WorkspaceHead::reopen(second, &head.binding()).await?;
    let mut tasks = Vec::new();
    for contender in 0..8 {
        let head = if contender % 2 == 0 {
            head.clone()
        } else {
            elsewhere.clone()
        };
        tasks.push(tokio::spawn(async move {
            let id = session(&format!("ses_{contender}"))?;
            match head.claim(&id).await {
                Ok(()) => Ok(true),
                Err(WorkspaceError::HeadClaimed { .. }) => Ok(false),
                Err(error) => Err(Failure::from(error)),
            }
        }));
    }
    let mut winners = 0;
    for task in tasks {
        winners += usize::from(task.await??);
    }
    ensure_eq!(winners, 1, "the claims that succeeded");
    Ok(())
}
