use everruns_core::ids::{WorkspaceHeadId, WorkspaceId};
use everruns_core::session::{AppendRequest, Sequence, SessionQuery, SessionState};
use everruns_core::workspace::WorkspaceHeadAccess::{Isolated, Shared};

use super::Subject;
use super::samples::{TERM, at, binding, id, owner, said, session};
use crate::check::{CheckResult, Failure};

async fn listed(subject: &Subject, mut query: SessionQuery) -> Result<Vec<String>, Failure> {
    let mut found = Vec::new();
    loop {
        let page = subject.store.sessions(query.clone()).await?;
        ensure!(
            page.sessions.len() <= query.limit.max(1) as usize,
            "a page of {}",
            page.sessions.len()
        );
        ensure!(
            !page.sessions.is_empty() || page.next.is_none(),
            "an empty page that goes on"
        );
        found.extend(
            page.sessions
                .into_iter()
                .map(|record| record.id.as_str().to_owned()),
        );
        ensure!(found.len() < 100, "the pages do not end: {found:?}");
        match page.next {
            None => return Ok(found),
            next => query.after = next,
        }
    }
}

async fn plant(subject: &Subject) -> CheckResult {
    for (text, created) in [
        ("ses_c", 30),
        ("ses_a", 10),
        ("ses_e", 50),
        ("ses_b", 20),
        ("ses_d", 40),
    ] {
        subject.store.create(session(text, created)?).await?;
    }
    Ok(())
}

pub(super) async fn most_recently_changed_first(subject: Subject) -> CheckResult {
    ensure!(
        listed(&subject, SessionQuery::default()).await?.is_empty(),
        "a fresh store lists some"
    );
    plant(&subject).await?;
    let by_creation = ["ses_e", "ses_d", "ses_c", "ses_b", "ses_a"];
    ensure_eq!(
        listed(&subject, SessionQuery::default()).await?,
        by_creation,
        "after their creation"
    );
    let b = id("ses_b")?;
    let token = subject
        .store
        .acquire_lease(&b, &owner("me"), at(60), TERM)
        .await?
        .token;
    let request = AppendRequest {
        session: b,
        token,
        expected: Sequence::START,
        idempotency_key: "key".to_owned(),
        at: at(100),
        events: vec![said("now")],
    };
    subject.store.append(request).await?;
    let by_change = ["ses_b", "ses_e", "ses_d", "ses_c", "ses_a"];
    ensure_eq!(
        listed(&subject, SessionQuery::default()).await?,
        by_change,
        "after an append"
    );
    Ok(())
}

pub(super) async fn pages_are_complete(subject: Subject) -> CheckResult {
    plant(&subject).await?;
    // Sessions of one moment must neither be lost nor shown twice between pages.
    for text in ["ses_x", "ses_y", "ses_z"] {
        subject.store.create(session(text, 25)?).await?;
    }
    let all = listed(&subject, SessionQuery::default()).await?;
    ensure_eq!(all.len(), 8, "the sessions in one page");
    for limit in [1, 2, 3, 8] {
        let query = SessionQuery {
            limit,
            ..SessionQuery::default()
        };
        ensure_eq!(
            listed(&subject, query).await?,
            all,
            "the sessions in pages of {limit}"
        );
    }
    Ok(())
}

pub(super) async fn prefixes_are_literal(subject: Subject) -> CheckResult {
    for text in ["ses_ab", "ses_ac", "sesXab", "other", "SES_ab"] {
        subject.store.create(session(text, 1)?).await?;
    }
    let cases: [(&str, &[&str]); 6] = [
        ("ses_", &["ses_ab", "ses_ac"]),
        ("ses_ab", &["ses_ab"]),
        ("ses_abc", &[]),
        ("%", &[]),
        ("_", &[]),
        ("es_", &[]),
    ];
    for (prefix, expected) in cases {
        let query = SessionQuery {
            id_prefix: Some(prefix.to_owned()),
            ..SessionQuery::default()
        };
        let mut found = listed(&subject, query).await?;
        found.sort_unstable();
        ensure_eq!(found, expected, "the ids that start with {prefix}");
    }
    Ok(())
}

pub(super) async fn one_workspace(subject: Subject) -> CheckResult {
    plant(&subject).await?;
    let store = &subject.store;
    store
        .bind(&id("ses_a")?, binding("ws-1", "h1", Isolated)?)
        .await?;
    store
        .bind(&id("ses_b")?, binding("ws-2", "h2", Isolated)?)
        .await?;
    store
        .bind(&id("ses_c")?, binding("ws-1", "h3", Shared)?)
        .await?;
    let query = |limit| -> Result<SessionQuery, Failure> {
        let workspace = Some(WorkspaceId::new("ws-1")?);
        Ok(SessionQuery {
            workspace,
            limit,
            ..SessionQuery::default()
        })
    };
    for limit in [1, 10] {
        let found = listed(&subject, query(limit)?).await?;
        ensure_eq!(
            found,
            ["ses_c", "ses_a"],
            "the sessions of ws-1 in pages of {limit}"
        );
    }
    Ok(())
}

/// Five sessions that differ in everything that can be asked for.
async fn plant_various(subject: &Subject) -> CheckResult {
    let store = &subject.store;
    let titles = [
        ("ses_a", Some("Fix the PARSER")),
        ("ses_b", Some("100% of _it")),
        ("ses_c", None),
        ("ses_d", Some("parsers, \u{c9}t\u{e9}")),
        ("ses_e", Some("")),
    ];
    for (created, (text, title)) in (1..).zip(titles) {
        let mut new = session(text, created * 10)?;
        new.title = title.map(str::to_owned);
        let name = if created % 2 == 0 { "even" } else { "odd" };
        name.clone_into(&mut new.agent.name);
        store.create(new).await?;
    }
    for (text, head) in [("ses_a", "h1"), ("ses_b", "h2"), ("ses_c", "h3")] {
        store
            .bind(&id(text)?, binding("ws-1", head, Isolated)?)
            .await?;
    }
    store
        .acquire_lease(&id("ses_b")?, &owner("one"), at(100), TERM)
        .await?;
    let c = id("ses_c")?;
    let ended = store
        .acquire_lease(&c, &owner("two"), at(100), TERM)
        .await?;
    store.release_lease(&c, ended.token).await?;
    Ok(())
}

pub(super) async fn filters(subject: Subject) -> CheckResult {
    plant_various(&subject).await?;
    let all = SessionQuery::default;
    let title = |part: &str| SessionQuery {
        title: Some(part.to_owned()),
        ..all()
    };
    let state = |state| SessionQuery {
        state: Some(state),
        ..all()
    };
    let agent = |name: &str| SessionQuery {
        agent: Some(name.to_owned()),
        ..all()
    };
    let head = SessionQuery {
        head: Some(WorkspaceHeadId::new("h2")?),
        ..all()
    };
    let since = |millis| SessionQuery {
        updated_since: Some(at(millis)),
        ..all()
    };
    let both = SessionQuery {
        agent: Some("even".to_owned()),
        ..title("PARSER")
    };
    let lease_end = at(100).plus(TERM);
    let cases: [(SessionQuery, &[&str]); 18] = [
        (title("parser"), &["ses_d", "ses_a"]),
        (title("%"), &["ses_b"]),
        (title("_"), &["ses_b"]),
        (title("\u{c9}T\u{e9}"), &["ses_d"]),
        (title("\u{e9}t\u{e9}"), &[]),
        (title(""), &["ses_e", "ses_d", "ses_b", "ses_a"]),
        (agent("odd"), &["ses_e", "ses_c", "ses_a"]),
        (agent("Odd"), &[]),
        (agent(""), &[]),
        (head, &["ses_b"]),
        (since(30), &["ses_e", "ses_d", "ses_c"]),
        (since(51), &[]),
        (both, &["ses_d"]),
        (state(SessionState::Unbound), &["ses_e", "ses_d"]),
        (
            state(SessionState::Idle { at: at(200) }),
            &["ses_c", "ses_a"],
        ),
        (state(SessionState::Executing { at: at(200) }), &["ses_b"]),
        (
            state(SessionState::Idle { at: lease_end }),
            &["ses_c", "ses_b", "ses_a"],
        ),
        (state(SessionState::Executing { at: lease_end }), &[]),
    ];
    for (query, expected) in cases {
        for limit in [1, 2, 100] {
            let query = SessionQuery {
                limit,
                ..query.clone()
            };
            let found = listed(&subject, query.clone()).await?;
            ensure_eq!(found, expected, "the sessions of {query:?}");
        }
    }
    Ok(())
}

pub(super) async fn titles_change(subject: Subject) -> CheckResult {
    plant(&subject).await?;
    let store = &subject.store;
    let b = id("ses_b")?;
    store.set_title(&b, "First").await?;
    store.set_title(&b, "Second").await?;
    let record = store.session(&b).await?;
    ensure_eq!(record.title.as_deref(), Some("Second"), "the title");
    ensure_eq!(
        record.updated_at,
        at(20),
        "a title is no change of the session"
    );
    for (part, expected) in [("second", &["ses_b"][..]), ("first", &[])] {
        let query = SessionQuery {
            title: Some(part.to_owned()),
            ..SessionQuery::default()
        };
        let found = listed(&subject, query).await?;
        ensure_eq!(found, expected, "the sessions with {part} in their title");
    }
    Ok(())
}

pub(super) async fn a_limit_of_zero_counts_as_one(subject: Subject) -> CheckResult {
    plant(&subject).await?;
    let query = SessionQuery {
        limit: 0,
        ..SessionQuery::default()
    };
    let page = subject.store.sessions(query).await?;
    ensure_eq!(page.sessions.len(), 1, "the sessions");
    ensure!(page.next.is_some(), "the second page is not announced");
    Ok(())
}
