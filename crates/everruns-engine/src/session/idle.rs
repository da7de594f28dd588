//! What an idle session keeps in memory: little, however long its conversation is.

use std::time::Duration;

use super::conversation::Conversation;
use super::journal::{Journal, JournalState};

/// A conversation that takes more is dropped, and read again page by page when its next turn begins.
const KEPT_BYTES: usize = 4 * 1024;
/// How long the whole conversation is kept for a user who goes on soon.
const KEPT_FOR: Duration = Duration::from_secs(10);

/// Drops what can be read again once the session has been idle for long enough. Returns after how long to look again.
pub(super) fn shed_when_due(journal: &Journal, state: &mut JournalState) -> Option<Duration> {
    if !state.conversation.takes_more_than(KEPT_BYTES) && !journal.seen.has_contents() {
        return None;
    }
    let idle = state.last_use.elapsed();
    if idle < KEPT_FOR {
        return Some(KEPT_FOR.saturating_sub(idle));
    }
    shed(journal, state);
    None
}

/// Drops what can be read again. The lease has been given up and no turn runs.
pub(super) fn shed(journal: &Journal, state: &mut JournalState) {
    journal.seen.drop_contents();
    if state.conversation.takes_more_than(KEPT_BYTES) {
        let totals = (state.conversation.turns(), state.conversation.usage());
        let whole = state.is_complete();
        state.conversation = Conversation::default();
        state.forget(whole.then_some(totals));
    }
}
