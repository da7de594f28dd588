//! What is kept of a session: its record, binding, events and lease.

mod cursor;
mod error;
mod event;
mod lease;
mod query;
mod record;
mod store;

pub use cursor::{SessionCursor, SessionCursorError};
pub use error::StoreError;
pub use event::{EventPayload, Sequence, SessionEvent, ToolOutcome, TurnOutcome};
pub use lease::{FencingToken, HeldLease, Lease, LeaseOwner};
pub use query::{EventPage, EventQuery, PageDirection, SessionPage, SessionQuery, SessionState};
pub use record::{AgentSummary, NewSession, SessionRecord};
pub use store::{AppendReceipt, AppendRequest, ForkRequest, SessionStore};
