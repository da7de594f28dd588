use everruns_core::ids::SessionId;
use everruns_core::session::{EventQuery, PageDirection, Sequence};

use super::Subject;
use super::samples::{append, leased, session};
use crate::check::{CheckResult, Failure};

async fn with_events(subject: &Subject, count: u64) -> Result<SessionId, Failure> {
    let (id, token) = leased(subject, "ses_a").await?;
    for place in 0..count {
        append(
            subject.store.as_ref(),
            &id,
            token,
            place,
            &format!("key-{place}"),
        )
        .await?;
    }
    // Another session's events are never among them.
    let (other, token) = leased(subject, "ses_b").await?;
    append(subject.store.as_ref(), &other, token, 0, "key-0").await?;
    Ok(id)
}

async fn pages(
    subject: &Subject,
    id: &SessionId,
    mut query: EventQuery,
) -> Result<Vec<u64>, Failure> {
    let mut found = Vec::new();
    loop {
        let page = subject.store.events(id, query).await?;
        ensure!(
            page.events.len() <= query.limit.max(1) as usize,
            "a page of {}",
            page.events.len()
        );
        ensure!(
            !page.events.is_empty() || page.next.is_none(),
            "an empty page that goes on"
        );
        found.extend(page.events.iter().map(|event| event.sequence.0));
        ensure!(found.len() < 100, "the pages do not end: {found:?}");
        match page.next {
            None => return Ok(found),
            next => query.from = next,
        }
    }
}

pub(super) async fn forward(subject: Subject) -> CheckResult {
    let id = with_events(&subject, 7).await?;
    for limit in [1, 2, 3, 7, 100] {
        let query = EventQuery {
            from: None,
            direction: PageDirection::Forward,
            limit,
        };
        let found = pages(&subject, &id, query).await?;
        ensure_eq!(
            found,
            [1, 2, 3, 4, 5, 6, 7],
            "the places in pages of {limit}"
        );
    }
    Ok(())
}

pub(super) async fn backward(subject: Subject) -> CheckResult {
    let id = with_events(&subject, 7).await?;
    for limit in [1, 2, 3, 7, 100] {
        let found = pages(&subject, &id, EventQuery::last(limit)).await?;
        ensure_eq!(
            found,
            [7, 6, 5, 4, 3, 2, 1],
            "the places in pages of {limit}"
        );
    }
    Ok(())
}

pub(super) async fn from_the_middle(subject: Subject) -> CheckResult {
    let id = with_events(&subject, 5).await?;
    let after = pages(&subject, &id, EventQuery::after(Sequence(3), 10)).await?;
    ensure_eq!(after, [4, 5], "the events after 3");
    let before = EventQuery {
        from: Some(Sequence(3)),
        direction: PageDirection::Backward,
        limit: 10,
    };
    ensure_eq!(
        pages(&subject, &id, before).await?,
        [2, 1],
        "the events before 3"
    );
    let none = pages(&subject, &id, EventQuery::after(Sequence(5), 10)).await?;
    ensure!(none.is_empty(), "events after the last: {none:?}");
    Ok(())
}

pub(super) async fn a_limit_of_zero_counts_as_one(subject: Subject) -> CheckResult {
    let id = with_events(&subject, 3).await?;
    let page = subject.store.events(&id, EventQuery::last(0)).await?;
    ensure_eq!(page.events.len(), 1, "the events");
    ensure!(page.next.is_some(), "the second page is not announced");
    Ok(())
}

pub(super) async fn an_empty_session(subject: Subject) -> CheckResult {
    let id = subject.store.create(session("ses_a", 1)?).await?.id;
    for query in [EventQuery::last(5), EventQuery::after(Sequence::START, 5)] {
        let page = subject.store.events(&id, query).await?;
        ensure!(
            page.events.is_empty() && page.next.is_none(),
            "an empty session shows {page:?}"
        );
    }
    Ok(())
}
