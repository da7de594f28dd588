use everruns_core::clock::Timestamp;
use everruns_core::ids::SessionId;
use everruns_core::model::Message;
use everruns_core::session::{
    EventPayload, EventQuery, PageDirection, Sequence, SessionEvent, SessionStore, StoreError,
    ToolOutcome,
};

/// Which messages to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HistoryQuery {
    /// Forward: only messages after this place. Backward: only those before it. The end to start from when `None`.
    pub from: Option<Sequence>,
    /// Which way.
    pub direction: PageDirection,
    /// At most so many; 0 counts as 1.
    pub limit: u32,
}

impl HistoryQuery {
    /// The last `limit` messages, newest first.
    pub const fn last(limit: u32) -> Self {
        Self {
            from: None,
            direction: PageDirection::Backward,
            limit,
        }
    }

    /// Up to `limit` messages after `sequence`, oldest first.
    pub const fn after(sequence: Sequence, limit: u32) -> Self {
        Self {
            from: Some(sequence),
            direction: PageDirection::Forward,
            limit,
        }
    }
}

/// One message, with the place of its event.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HistoryMessage {
    /// The place of its event.
    pub sequence: Sequence,
    /// When it was recorded.
    pub at: Timestamp,
    /// The message.
    pub message: Message,
}

/// Some messages, in the direction asked for.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct HistoryPage {
    /// The messages.
    pub messages: Vec<HistoryMessage>,
    /// Where to go on; `None` when there are no more.
    pub next: Option<Sequence>,
}

/// Reads messages from the events, in pages of the size asked for.
pub(super) async fn read(
    store: &dyn SessionStore,
    session: &SessionId,
    query: HistoryQuery,
) -> Result<HistoryPage, StoreError> {
    let limit = query.limit.max(1) as usize;
    let mut from = query.from;
    let mut history = HistoryPage::default();
    loop {
        let wanted = EventQuery {
            from,
            direction: query.direction,
            limit: query.limit.max(1),
        };
        let page = store.events(session, wanted).await?;
        for event in page.events {
            if history.messages.len() == limit {
                return Ok(history);
            }
            history.next = Some(event.sequence);
            history.messages.extend(message(event));
        }
        if page.next.is_none() {
            history.next = None;
            return Ok(history);
        }
        from = page.next;
        if history.messages.len() == limit {
            return Ok(history);
        }
    }
}

fn message(event: SessionEvent) -> Option<HistoryMessage> {
    let message = match event.payload {
        EventPayload::UserMessage { text } => Message::User { text },
        EventPayload::AssistantMessage {
            text, tool_calls, ..
        } => Message::Assistant { text, tool_calls },
        EventPayload::ToolResult {
            call_id,
            tool,
            output,
            outcome,
            ..
        } => Message::ToolResult {
            call_id,
            tool,
            output,
            is_error: outcome != ToolOutcome::Succeeded,
        },
        _ => return None,
    };
    Some(HistoryMessage {
        sequence: event.sequence,
        at: event.at,
        message,
    })
}
