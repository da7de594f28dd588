use everruns_core::session::{
    AppendReceipt, AppendRequest, EventPayload, FencingToken, Sequence, StoreError,
};

use crate::appends::OPERATION;
use crate::rows::{AppendRow, from_stored, to_stored};

/// An append in the form in which it is stored.
#[derive(Debug)]
pub(crate) struct Batch {
    pub(crate) request: AppendRequest,
    /// The events' JSON texts, at least one.
    pub(crate) payloads: Vec<String>,
    /// The last agent that an event of the batch names.
    pub(crate) agent: Option<String>,
}

impl Batch {
    pub(crate) fn new(request: AppendRequest) -> Result<Self, StoreError> {
        if request.events.is_empty() {
            return Err(StoreError::Failed {
                operation: OPERATION,
                source: "the request holds no event".into(),
            });
        }
        let failed = |source: serde_json::Error| StoreError::Failed {
            operation: OPERATION,
            source: source.into(),
        };
        let payloads = request
            .events
            .iter()
            .map(|event| serde_json::to_string(event).map_err(failed))
            .collect::<Result<_, _>>()?;
        let agent = request
            .events
            .iter()
            .rev()
            .find_map(|event| match event {
                EventPayload::SessionStarted { agent } | EventPayload::SessionResumed { agent } => {
                    Some(serde_json::to_string(agent).map_err(failed))
                }
                _ => None,
            })
            .transpose()?;
        Ok(Self {
            request,
            payloads,
            agent,
        })
    }
}

/// What to do about an append.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Append {
    /// An earlier request with its key was applied.
    Answer(AppendReceipt),
    /// Store the events at these places.
    Apply(AppendReceipt),
}

/// Decides on `batch`, given what is stored.
///
/// The key comes first: who lost the answer of an applied append may have lost the lease since, and still has to
/// learn that the events are there.
pub(crate) fn decide(batch: &Batch, row: Option<AppendRow>) -> Result<Append, StoreError> {
    let request = &batch.request;
    let session = &request.session;
    let row = row.ok_or_else(|| StoreError::NotFound {
        session: session.clone(),
    })?;
    if let (Some(first), Some(last)) = (row.applied_first, row.applied_last) {
        return Ok(Append::Answer(AppendReceipt {
            first: Sequence(from_stored(session, "seq", first)?),
            last: Sequence(from_stored(session, "batch_last", last)?),
            replayed: true,
        }));
    }
    let held = match (row.owner, row.token) {
        (Some(_), Some(token)) => Some(FencingToken(from_stored(session, "token", token)?)),
        _ => None,
    };
    if held != Some(request.token) {
        return Err(StoreError::Fenced {
            session: session.clone(),
            presented: request.token,
        });
    }
    let actual = Sequence(from_stored(session, "last_seq", row.last_seq)?);
    if actual != request.expected {
        return Err(StoreError::SequenceConflict {
            session: session.clone(),
            expected: request.expected,
            actual,
        });
    }
    let last = actual.0.saturating_add(batch.payloads.len() as u64);
    to_stored(OPERATION, last)?;
    Ok(Append::Apply(AppendReceipt {
        first: actual.next(),
        last: Sequence(last),
        replayed: false,
    }))
}
