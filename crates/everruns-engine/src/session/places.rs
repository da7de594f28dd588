use everruns_core::ids::SessionId;
use everruns_core::session::{Sequence, SessionStore, StoreError};
use everruns_core::workspace::WorkspaceCheckpoint;

use super::conversation::{Conversation, FileState};
use super::replay;

/// A place of a session's record between two turns, to which it can go back, or from which it can be forked.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionPlace {
    /// The event after which it is: what [`Session::rewind`](super::Session::rewind) and
    /// [`Session::fork_at`](super::Session::fork_at) take.
    pub event: Sequence,
    /// What is known of the files there.
    pub files: PlaceFiles,
}

/// What is known of the head's files at a place of the record.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PlaceFiles {
    /// The session has changed none that its record tells of.
    Unchanged,
    /// They are kept.
    Kept(WorkspaceCheckpoint),
    /// They changed and were not kept, so that one cannot go back there.
    Missed,
}

/// The places of a session's conversation, oldest first. Reads the whole record.
pub(crate) async fn places(
    store: &dyn SessionStore,
    session: &SessionId,
) -> Result<Vec<SessionPlace>, StoreError> {
    let mut conversation = Conversation::default();
    replay::onwards(store, session, Sequence::START, &mut conversation).await?;
    let places = conversation.places().map(|(event, files)| SessionPlace {
        event,
        files: match files {
            FileState::Unchanged => PlaceFiles::Unchanged,
            FileState::Kept(checkpoint) => PlaceFiles::Kept((*checkpoint).clone()),
            FileState::Missed => PlaceFiles::Missed,
        },
    });
    Ok(places.collect())
}
