use std::sync::Arc;

use everruns_core::session::{AppendReceipt, Sequence, SessionStore, StoreError};
use everruns_core::workspace::WorkspaceHeadAccess::Isolated;
use tokio::sync::Barrier;

use super::Subject;
use super::samples::{TERM, append, at, binding, id, leased, owner, session};
use crate::check::{CheckResult, Failure};

const CONTENDERS: usize = 8;

/// Runs one call of each contender at once; two instances of the store share the work where that can be.
async fn race<T, F, Fut>(subject: &Subject, call: F) -> Result<Vec<Result<T, StoreError>>, Failure>
where
    T: Send + 'static,
    F: Fn(usize, Arc<dyn SessionStore>) -> Fut,
    Fut: Future<Output = Result<T, StoreError>> + Send + 'static,
{
    let second = subject
        .second()
        .await
        .unwrap_or_else(|| Arc::clone(&subject.store));
    let barrier = Arc::new(Barrier::new(CONTENDERS));
    let mut tasks = Vec::new();
    for contender in 0..CONTENDERS {
        let store = if contender % 2 == 0 {
            &subject.store
        } else {
            &second
        };
        let (barrier, call) = (Arc::clone(&barrier), call(contender, Arc::clone(store)));
        tasks.push(tokio::spawn(async move {
            barrier.wait().await;
            call.await
        }));
    }
    let mut outcomes = Vec::new();
    for task in tasks {
        outcomes.push(task.await?);
    }
    Ok(outcomes)
}

fn winners<T>(outcomes: &[Result<T, StoreError>]) -> usize {
    outcomes.iter().filter(|outcome| outcome.is_ok()).count()
}

pub(super) async fn one_appender_wins(subject: Subject) -> CheckResult {
    let (id, token) = leased(&subject, "ses_a").await?;
    for round in 0..4_u64 {
        let outcomes = race(&subject, |contender, store| {
            let id = id.clone();
            let key = format!("{round}-{contender}");
            async move { append(store.as_ref(), &id, token, round, &key).await }
        })
        .await?;
        ensure_eq!(
            winners(&outcomes),
            1,
            "the appends at place {round} that succeeded"
        );
        for outcome in outcomes.into_iter().filter(Result::is_err) {
            refused!(
                outcome,
                StoreError::SequenceConflict { .. },
                "a loser at place {round}"
            );
        }
    }
    ensure_eq!(
        subject.store.session(&id).await?.last_sequence,
        Sequence(4),
        "the last place"
    );
    Ok(())
}

pub(super) async fn a_repeated_append_is_applied_once(subject: Subject) -> CheckResult {
    let (id, token) = leased(&subject, "ses_a").await?;
    let outcomes = race(&subject, |_, store| {
        let id = id.clone();
        async move { append(store.as_ref(), &id, token, 0, "one key").await }
    })
    .await?;
    let receipts = outcomes
        .into_iter()
        .collect::<Result<Vec<AppendReceipt>, _>>()?;
    let applied = receipts.iter().filter(|receipt| !receipt.replayed).count();
    ensure_eq!(applied, 1, "how often it was applied");
    ensure!(
        receipts.iter().all(|receipt| receipt.last == Sequence(1)),
        "places: {receipts:?}"
    );
    ensure_eq!(
        subject.store.session(&id).await?.last_sequence,
        Sequence(1),
        "the last place"
    );
    Ok(())
}

/// Proves C06 under concurrency
pub(super) async fn one_bind_wins(subject: Subject) -> CheckResult {
    let mut ids = Vec::new();
    for contender in 0..CONTENDERS {
        ids.push(
            subject
                .store
                .create(session(&format!("ses_{contender}"), 1)?)
                .await?
                .id,
        );
    }
    let head = binding("ws", "head", Isolated)?;
    let outcomes = race(&subject, |contender, store| {
        let (id, head) = (ids[contender].clone(), head.clone());
        async move { store.bind(&id, head).await }
    })
    .await?;
    ensure_eq!(winners(&outcomes), 1, "the binds that succeeded");
    let winner = outcomes.iter().position(Result::is_ok);
    for outcome in outcomes.into_iter().filter(Result::is_err) {
        refused!(
            outcome,
            StoreError::HeadBound { session, .. } if winner.is_some_and(|n| ids[n] == session),
            "a loser"
        );
    }
    for (contender, id) in ids.iter().enumerate() {
        let bound = subject.store.session(id).await?.binding.is_some();
        ensure_eq!(bound, winner == Some(contender), "whether {id} is bound");
    }
    Ok(())
}

pub(super) async fn one_creator_wins(subject: Subject) -> CheckResult {
    let wish = session("ses_a", 1)?;
    let outcomes = race(&subject, |_, store| {
        let wish = wish.clone();
        async move { store.create(wish).await }
    })
    .await?;
    ensure_eq!(winners(&outcomes), 1, "the sessions made");
    for outcome in outcomes.into_iter().filter(Result::is_err) {
        refused!(outcome, StoreError::AlreadyExists { .. }, "a loser");
    }
    Ok(())
}

pub(super) async fn one_owner_wins(subject: Subject) -> CheckResult {
    subject.store.create(session("ses_a", 1)?).await?;
    let id = id("ses_a")?;
    let outcomes = race(&subject, |contender, store| {
        let id = id.clone();
        let owner = owner(&format!("owner-{contender}"));
        async move { store.acquire_lease(&id, &owner, at(1), TERM).await }
    })
    .await?;
    ensure_eq!(winners(&outcomes), 1, "the leases given");
    for outcome in outcomes.into_iter().filter(Result::is_err) {
        refused!(outcome, StoreError::LeaseHeld { .. }, "a loser");
    }
    Ok(())
}
