//! Sessions as text, for debugging: a line of JSON for the session, and one for each event.
//!
//! ```text
//! {"everruns_session":1,"session":{"id":"ses_…","title":null,"agent":{…},"created_at":…,"updated_at":…,"last_sequence":2,"binding":{…}}}
//! {"sequence":1,"at":…,"payload":{"type":"session_started",…}}
//! {"sequence":2,"at":…,"payload":{"type":"user_message","text":"…"}}
//! ```
//!
//! Later versions only add members and event types; a reader refuses a version that it does not know. An imported
//! session has a new id and no head: it can be read, and not resumed.

mod export;
mod format;
mod import;

pub use export::SessionExport;
pub use format::{FORMAT_VERSION, ImportError};
pub(crate) use import::import;
