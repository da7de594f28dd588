//! Makes conversations of what a store has.

use everruns_core::ids::SessionId;
use everruns_core::session::{
    EventPayload, EventQuery, PageDirection, Sequence, SessionEvent, SessionStore, StoreError,
};

use super::conversation::Conversation;
use super::journal::PAGE;

/// Events that the first read of a tail gives: more than most turns have.
const FIRST_LOOK: u32 = 32;

/// The end of a session's record.
#[derive(Debug, Default)]
pub(super) struct Tail {
    pub(super) conversation: Conversation,
    /// Whether that is the whole session.
    pub(super) complete: bool,
    pub(super) last: Sequence,
}

/// Reads the events since the end of the last turn, that end included, and whatever is before it in the same page.
pub(super) async fn tail(
    store: &dyn SessionStore,
    session: &SessionId,
) -> Result<Tail, StoreError> {
    let mut read: Vec<SessionEvent> = Vec::new();
    let mut query = EventQuery::last(FIRST_LOOK);
    let complete = loop {
        let page = store.events(session, query).await?;
        let ended = page
            .events
            .iter()
            .any(|event| matches!(event.payload, EventPayload::TurnEnded { .. }));
        read.extend(page.events);
        if ended || page.next.is_none() {
            break page.next.is_none();
        }
        query = EventQuery {
            from: page.next,
            direction: PageDirection::Backward,
            limit: PAGE,
        };
    };
    let mut tail = Tail {
        complete,
        ..Tail::default()
    };
    let mut settled = complete;
    for event in read.iter().rev() {
        settled |= matches!(event.payload, EventPayload::TurnEnded { .. });
        if settled {
            tail.conversation.apply(event.sequence, &event.payload);
        }
        tail.last = event.sequence;
    }
    Ok(tail)
}

/// Takes in all events after `known`; gives the place of the last.
pub(super) async fn onwards(
    store: &dyn SessionStore,
    session: &SessionId,
    mut known: Sequence,
    conversation: &mut Conversation,
) -> Result<Sequence, StoreError> {
    loop {
        let page = store
            .events(session, EventQuery::after(known, PAGE))
            .await?;
        for event in &page.events {
            conversation.apply(event.sequence, &event.payload);
            known = event.sequence;
        }
        if page.next.is_none() {
            return Ok(known);
        }
    }
}
