use everruns_core::ids::SessionId;
use everruns_core::session::{ForkRequest, Sequence, SessionRecord, StoreError};

use crate::rows::{from_stored, to_stored};

pub(crate) const OPERATION: &str = "fork a session";

/// A fork in the form in which it is stored.
#[derive(Debug)]
pub(crate) struct Fork {
    pub(crate) request: ForkRequest,
    pub(crate) agent: String,
    /// The JSON texts of the events that follow those taken over.
    pub(crate) payloads: Vec<String>,
    pub(crate) through: i64,
    pub(crate) last: i64,
}

impl Fork {
    pub(crate) fn new(request: ForkRequest) -> Result<Self, StoreError> {
        let failed = |source: serde_json::Error| StoreError::Failed {
            operation: OPERATION,
            source: source.into(),
        };
        let events = request.events.iter();
        let payloads = events
            .map(|event| serde_json::to_string(event).map_err(failed))
            .collect::<Result<Vec<_>, _>>()?;
        let last = request.through.0.saturating_add(payloads.len() as u64);
        Ok(Self {
            agent: serde_json::to_string(&request.session.agent).map_err(failed)?,
            through: to_stored(OPERATION, request.through.0)?,
            last: to_stored(OPERATION, last)?,
            payloads,
            request,
        })
    }

    pub(crate) fn id(&self) -> &SessionId {
        &self.request.session.id
    }

    /// Refuses unless the source is recorded and has all the events that are to be taken over.
    pub(crate) fn check_source(&self, last: Option<i64>) -> Result<(), StoreError> {
        let source = &self.request.source;
        let last = last.ok_or_else(|| StoreError::NotFound {
            session: source.clone(),
        })?;
        if last >= self.through {
            return Ok(());
        }
        Err(StoreError::SequenceConflict {
            session: source.clone(),
            expected: self.request.through,
            actual: Sequence(from_stored(source, "last_seq", last)?),
        })
    }

    /// What is recorded of the session that was made.
    pub(crate) fn record(&self) -> Result<SessionRecord, StoreError> {
        let session = &self.request.session;
        Ok(SessionRecord {
            id: session.id.clone(),
            title: session.title.clone(),
            agent: session.agent.clone(),
            created_at: session.created_at,
            updated_at: session.created_at,
            last_sequence: Sequence(from_stored(&session.id, "last_seq", self.last)?),
            binding: Some(self.request.binding.clone()),
        })
    }
}
