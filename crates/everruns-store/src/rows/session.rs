use everruns_core::clock::Timestamp;
use everruns_core::ids::SessionId;
use everruns_core::session::{Sequence, SessionRecord, StoreError};

use super::{BindingRow, from_stored};

/// A session with its binding.
#[derive(Debug, sqlx::FromRow)]
pub(crate) struct SessionRow {
    id: String,
    title: Option<String>,
    agent: String,
    created_at: i64,
    updated_at: i64,
    last_seq: i64,
    #[sqlx(flatten)]
    binding: BindingRow,
}

impl SessionRow {
    pub(crate) fn into_record(self) -> Result<SessionRecord, StoreError> {
        let id = SessionId::new(self.id).map_err(|error| StoreError::Failed {
            operation: "read a session",
            source: error.into(),
        })?;
        let agent =
            serde_json::from_str(&self.agent).map_err(|error| StoreError::CorruptRecord {
                session: id.clone(),
                reason: format!("its agent: {error}"),
            })?;
        Ok(SessionRecord {
            title: self.title,
            agent,
            created_at: Timestamp::from_millis(self.created_at),
            updated_at: Timestamp::from_millis(self.updated_at),
            last_sequence: Sequence(from_stored(&id, "last_seq", self.last_seq)?),
            binding: self.binding.into_binding(&id)?,
            id,
        })
    }
}
