//! One conversation on one head.

mod active;
mod conversation;
mod core;
mod detached;
mod error;
mod events;
mod handle;
mod history;
mod holder;
mod inspection;
mod intent;
mod journal;
mod lease;
mod outcome;
mod pending;
mod repair;
mod replay;
mod resume;
mod send;
mod start;
mod update;

pub(crate) use self::active::Active;
pub(crate) use self::core::SessionCore;
pub(crate) use self::detached::detached;
pub use self::error::{SessionEnvironmentError, SessionError};
pub use self::events::SessionEvents;
pub use self::handle::Session;
pub use self::history::{HistoryMessage, HistoryPage, HistoryQuery};
pub use self::inspection::SessionInspection;
pub(crate) use self::journal::{Journal, RunningTurn, Services};
pub use self::outcome::Turn;
pub use self::pending::PendingTurn;
pub(crate) use self::pending::TurnReport;
pub(crate) use self::resume::resume;
pub use self::update::{SessionUpdate, SessionUpdates};
