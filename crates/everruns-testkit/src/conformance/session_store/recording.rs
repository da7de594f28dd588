use everruns_core::session::{EventQuery, FencingToken, Sequence, StoreError};
use everruns_core::workspace::WorkspaceHeadAccess;

use super::Subject;
use super::samples::{TERM, append, at, binding, id, owner, session};
use crate::check::CheckResult;

pub(super) async fn a_new_session_is_found(subject: Subject) -> CheckResult {
    let mut wish = session("ses_new", 1_000)?;
    wish.title = Some("A title: ü, 'quotes' and \u{202e}bidi".to_owned());
    let made = subject.store.create(wish.clone()).await?;
    let found = subject.store.session(&wish.id).await?;
    ensure_eq!(found, made, "what create and session tell");
    ensure_eq!(found.title, wish.title, "the title");
    ensure_eq!(found.agent, wish.agent, "the agent");
    ensure_eq!(found.created_at, at(1_000), "when it was made");
    ensure_eq!(found.updated_at, at(1_000), "when it changed");
    ensure_eq!(found.last_sequence, Sequence::START, "its last place");
    ensure_eq!(found.binding, None, "its binding");
    Ok(())
}

pub(super) async fn an_id_is_taken_once(subject: Subject) -> CheckResult {
    subject.store.create(session("ses_a", 1)?).await?;
    let mut second = session("ses_a", 2)?;
    second.title = Some("second".to_owned());
    let a = id("ses_a")?;
    refused!(
        subject.store.create(second).await,
        StoreError::AlreadyExists { session } if session == a,
        "recording an id again"
    );
    ensure_eq!(
        subject.store.session(&a).await?.title,
        None,
        "the first one's title"
    );
    Ok(())
}

pub(super) async fn unknown_sessions_are_not_found(subject: Subject) -> CheckResult {
    subject.store.create(session("ses_known", 1)?).await?;
    let (store, unknown) = (&subject.store, id("ses_unknown")?);
    refused!(
        store.session(&unknown).await,
        StoreError::NotFound { .. },
        "session"
    );
    let head = binding("w", "h", WorkspaceHeadAccess::Isolated)?;
    refused!(
        store.bind(&unknown, head).await,
        StoreError::NotFound { .. },
        "bind"
    );
    refused!(
        store.set_title(&unknown, "t").await,
        StoreError::NotFound { .. },
        "set_title"
    );
    let appended = append(store.as_ref(), &unknown, FencingToken(1), 0, "key").await;
    refused!(appended, StoreError::NotFound { .. }, "append");
    let events = store.events(&unknown, EventQuery::last(1)).await;
    refused!(events, StoreError::NotFound { .. }, "events");
    let lease = store
        .acquire_lease(&unknown, &owner("me"), at(1), TERM)
        .await;
    refused!(lease, StoreError::NotFound { .. }, "acquire_lease");
    refused!(
        store.delete(&unknown, None).await,
        StoreError::NotFound { .. },
        "delete"
    );
    Ok(())
}

pub(super) async fn titles_change(subject: Subject) -> CheckResult {
    let a = subject.store.create(session("ses_a", 1)?).await?.id;
    for title in ["first", "", "日本 '; DROP TABLE sessions; --"] {
        subject.store.set_title(&a, title).await?;
        let found = subject.store.session(&a).await?.title;
        ensure_eq!(found.as_deref().unwrap_or_default(), title, "the title");
    }
    Ok(())
}
