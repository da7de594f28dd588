use everruns_core::clock::Timestamp;
use everruns_core::ids::SessionId;
use everruns_core::model::{Message, Usage};
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

/// One message, with the place of its event and what is on record of it beside the text.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HistoryMessage {
    /// The place of its event.
    pub sequence: Sequence,
    /// When it was recorded.
    pub at: Timestamp,
    /// The message.
    pub message: Message,
    /// The turn that it was said or called in; `None` for what the user says.
    pub turn: Option<u64>,
    /// What the request took that the model answered; `None` for messages that are none of the model's.
    pub usage: Option<Usage>,
    /// How the call ended; `None` for messages that are no tool's result. The message itself only tells whether it
    /// succeeded.
    pub outcome: Option<ToolOutcome>,
}

/// A place at which the session went back: what lies between is no part of the conversation any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HistoryRewind {
    /// The place of the event that says so.
    pub sequence: Sequence,
    /// The event after which the conversation went on.
    pub to: Sequence,
}

impl HistoryRewind {
    /// Whether the message at `sequence` is no part of the conversation any more for that.
    pub fn removes(&self, sequence: Sequence) -> bool {
        self.to < sequence && sequence < self.sequence
    }
}

/// Some messages, in the direction asked for.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct HistoryPage {
    /// The messages.
    pub messages: Vec<HistoryMessage>,
    /// Where the session went back, among the events that this page was read from, in the same direction. What it removes
    /// are earlier messages, so that one who pages backwards from the end knows all of it before coming to them.
    pub rewinds: Vec<HistoryRewind>,
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
            if let EventPayload::Rewound { to, .. } = event.payload {
                let sequence = event.sequence;
                history.rewinds.push(HistoryRewind { sequence, to });
            }
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
    let of = |message| HistoryMessage {
        sequence: event.sequence,
        at: event.at,
        message,
        turn: None,
        usage: None,
        outcome: None,
    };
    Some(match event.payload {
        EventPayload::UserMessage { text } => of(Message::User { text }),
        EventPayload::AssistantMessage {
            turn,
            text,
            tool_calls,
            usage,
            ..
        } => HistoryMessage {
            turn: Some(turn),
            usage: Some(usage),
            ..of(Message::Assistant { text, tool_calls })
        },
        EventPayload::ToolResult {
            turn,
            call_id,
            tool,
            output,
            outcome,
            ..
        } => HistoryMessage {
            turn: Some(turn),
            outcome: Some(outcome),
            ..of(Message::ToolResult {
                call_id,
                tool,
                output,
                is_error: outcome != ToolOutcome::Succeeded,
            })
        },
        _ => return None,
    })
}
