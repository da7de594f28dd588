use std::collections::BTreeSet;

use everruns_core::workspace::{Workspace, WorkspaceError, WorkspaceHead};

use super::Subject;
use super::subject::{holds, put, session};
use crate::check::{CheckResult, Failure};

const CONTENDERS: usize = 8;

type Outcome = Result<WorkspaceHead, WorkspaceError>;

/// Makes heads at once, through two backends over the same state where that can be.
async fn create_all(
    subject: &Subject,
    name: impl Fn(usize) -> String,
) -> Result<Vec<Outcome>, Failure> {
    let first = subject.workspace().await?;
    let second = match subject.second().await {
        Some(backend) => Workspace::open(backend, &subject.locator).await?,
        None => first.clone(),
    };
    let mut tasks = Vec::new();
    for contender in 0..CONTENDERS {
        let workspace = if contender % 2 == 0 { &first } else { &second };
        let builder = workspace.head(name(contender));
        let builder = if subject.can.isolated {
            builder
        } else {
            builder.shared()
        };
        tasks.push(tokio::spawn(builder.create()));
    }
    let mut outcomes = Vec::new();
    for task in tasks {
        outcomes.push(task.await?);
    }
    Ok(outcomes)
}

/// Proves H52 within one process
pub(super) async fn different_names_all_succeed(subject: Subject) -> CheckResult {
    if !subject.can.many_heads {
        return Ok(());
    }
    let outcomes = create_all(&subject, |contender| format!("head {contender}")).await?;
    let heads = outcomes.into_iter().collect::<Result<Vec<_>, _>>()?;
    let ids: BTreeSet<_> = heads.iter().map(WorkspaceHead::id).collect();
    ensure_eq!(ids.len(), CONTENDERS, "the distinct ids");
    for head in &heads {
        put(head, "file", head.name()).await?;
    }
    for head in &heads {
        holds(head, "file", Some(head.name())).await?;
    }
    ensure_eq!(
        subject.workspace().await?.heads().await?.len(),
        CONTENDERS,
        "the heads listed"
    );
    Ok(())
}

pub(super) async fn one_name_is_given_once(subject: Subject) -> CheckResult {
    if !subject.can.many_heads {
        return Ok(());
    }
    let outcomes = create_all(&subject, |_| "wanted".to_owned()).await?;
    let winners = outcomes.iter().filter(|outcome| outcome.is_ok()).count();
    ensure_eq!(winners, 1, "the heads made");
    for outcome in outcomes.into_iter().filter(Result::is_err) {
        refused!(outcome, WorkspaceError::NameTaken { .. }, "a loser");
    }
    ensure_eq!(
        subject.workspace().await?.heads().await?.len(),
        1,
        "the heads listed"
    );
    Ok(())
}

/// Proves H51b for two backends at once
pub(super) async fn a_second_instance_sees_the_first(subject: Subject) -> CheckResult {
    let Some(second) = subject.second().await else {
        return Ok(());
    };
    let workspace = Workspace::open(second, &subject.locator).await?;
    let head = subject.head("mine").await?;
    put(&head, "file", "text").await?;
    let seen = workspace.open_head(head.id()).await?;
    holds(&seen, "file", Some("text")).await?;
    if subject.can.isolated {
        head.claim(&session("ses_a")?).await?;
        let result = seen.claim(&session("ses_b")?).await;
        refused!(
            result,
            WorkspaceError::HeadClaimed { .. },
            "the second instance's claim"
        );
    }
    if subject.can.archives {
        head.archive().await?;
        let result = workspace.open_head(head.id()).await;
        refused!(
            result,
            WorkspaceError::HeadArchived { .. },
            "the second instance's reopening"
        );
    }
    Ok(())
}
