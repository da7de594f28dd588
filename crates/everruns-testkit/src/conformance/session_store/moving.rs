//! Pages of a list whose sessions change and are deleted between one page and the next.

use everruns_core::session::{AppendRequest, Sequence, SessionPage, SessionQuery, SessionRecord};

use super::Subject;
use super::samples::{TERM, at, id, owner, said, session};
use crate::check::{CheckResult, Failure};

/// Sessions `ses_a` to `ses_e`; the last is the most recently changed, at 50.
async fn plant(subject: &Subject) -> CheckResult {
    for (text, created) in [
        ("ses_a", 10),
        ("ses_b", 20),
        ("ses_c", 30),
        ("ses_d", 40),
        ("ses_e", 50),
    ] {
        subject.store.create(session(text, created)?).await?;
    }
    Ok(())
}

fn two(page: Option<&SessionPage>) -> SessionQuery {
    SessionQuery {
        after: page.and_then(|page| page.next.clone()),
        limit: 2,
        ..SessionQuery::default()
    }
}

fn ids(page: &SessionPage) -> Vec<&str> {
    page.sessions
        .iter()
        .map(|found| found.id.as_str())
        .collect()
}

/// Appends one event to a session at a time.
async fn change(subject: &Subject, text: &str, millis: i64) -> Result<SessionRecord, Failure> {
    let id = id(text)?;
    let record = subject.store.session(&id).await?;
    let lease = subject
        .store
        .acquire_lease(&id, &owner("me"), at(0), TERM)
        .await?;
    let request = AppendRequest {
        session: id.clone(),
        token: lease.token,
        expected: record.last_sequence,
        idempotency_key: format!("key-{}", record.last_sequence.0),
        at: at(millis),
        events: vec![said("more")],
    };
    subject.store.append(request).await?;
    subject.store.release_lease(&id, lease.token).await?;
    Ok(subject.store.session(&id).await?)
}

pub(super) async fn goes_on_when_its_last_session_changed(subject: Subject) -> CheckResult {
    plant(&subject).await?;
    let first = subject.store.sessions(two(None)).await?;
    ensure_eq!(ids(&first), ["ses_e", "ses_d"], "the first page");
    change(&subject, "ses_d", 100).await?;
    let second = subject.store.sessions(two(Some(&first))).await?;
    ensure_eq!(
        ids(&second),
        ["ses_c", "ses_b"],
        "the page behind a session that has changed since"
    );
    let third = subject.store.sessions(two(Some(&second))).await?;
    ensure_eq!(ids(&third), ["ses_a"], "the last page");
    ensure!(third.next.is_none(), "the last page goes on");
    Ok(())
}

pub(super) async fn goes_on_when_its_last_session_is_deleted(subject: Subject) -> CheckResult {
    plant(&subject).await?;
    let first = subject.store.sessions(two(None)).await?;
    subject.store.delete(&id("ses_d")?, None).await?;
    let second = subject.store.sessions(two(Some(&first))).await?;
    ensure_eq!(
        ids(&second),
        ["ses_c", "ses_b"],
        "the page behind a session that is deleted"
    );
    // A session that takes the id again is another one.
    subject.store.create(session("ses_d", 5)?).await?;
    let again = subject.store.sessions(two(Some(&first))).await?;
    ensure_eq!(
        ids(&again),
        ["ses_c", "ses_b"],
        "the page behind a session whose id was taken again"
    );
    Ok(())
}

pub(super) async fn what_changes_is_at_the_front(subject: Subject) -> CheckResult {
    plant(&subject).await?;
    let first = subject.store.sessions(two(None)).await?;
    change(&subject, "ses_b", 100).await?;
    let rest = subject.store.sessions(two(Some(&first))).await?;
    ensure_eq!(ids(&rest), ["ses_c", "ses_a"], "what has not changed");
    let anew = subject.store.sessions(two(None)).await?;
    ensure_eq!(ids(&anew), ["ses_b", "ses_e"], "the first page read again");
    Ok(())
}

pub(super) async fn a_late_clock_moves_nothing_back(subject: Subject) -> CheckResult {
    plant(&subject).await?;
    let first = subject.store.sessions(two(None)).await?;
    let record = change(&subject, "ses_e", 15).await?;
    ensure_eq!(
        record.last_sequence,
        Sequence(1),
        "the appended event's place"
    );
    ensure_eq!(
        record.updated_at,
        at(50),
        "the last change, after an append by someone whose clock is late"
    );
    let second = subject.store.sessions(two(Some(&first))).await?;
    ensure_eq!(ids(&second), ["ses_c", "ses_b"], "the second page");
    let third = subject.store.sessions(two(Some(&second))).await?;
    ensure_eq!(ids(&third), ["ses_a"], "the last page");
    Ok(())
}

/// Pages through while others change half of the sessions all the time.
pub(super) async fn pages_under_load(subject: Subject) -> CheckResult {
    const SESSIONS: i64 = 12;
    for number in 0..SESSIONS {
        let new = session(&format!("ses_{number:02}"), number)?;
        subject.store.create(new).await?;
    }
    let quiet: Vec<String> = (0..SESSIONS)
        .filter(|number| number % 2 == 0)
        .map(|number| format!("ses_{number:02}"))
        .collect();
    let changing = async {
        for round in 0..6 {
            for number in (1..SESSIONS).step_by(2) {
                change(&subject, &format!("ses_{number:02}"), 100 + round).await?;
            }
        }
        Ok::<(), Failure>(())
    };
    let paging = async {
        for _ in 0..6 {
            let mut found: Vec<String> = Vec::new();
            let mut page = subject.store.sessions(two(None)).await?;
            loop {
                found.extend(ids(&page).into_iter().map(str::to_owned));
                if page.next.is_none() {
                    break;
                }
                page = subject.store.sessions(two(Some(&page))).await?;
            }
            let mut once = found.clone();
            once.sort_unstable();
            once.dedup();
            ensure_eq!(once.len(), found.len(), "each session once of {found:?}");
            let missing = quiet.iter().find(|quiet| !found.contains(quiet));
            ensure!(
                missing.is_none(),
                "{missing:?} has not changed and is in no page of {found:?}"
            );
        }
        Ok::<(), Failure>(())
    };
    let (changed, paged) = futures::join!(changing, paging);
    changed?;
    paged
}
