//! What an idle session keeps in memory: little, however long its conversation is, and whatever it has worked on.

use std::sync::Weak;
use std::time::Duration;

use super::conversation::Conversation;
use super::journal::{Journal, JournalState};

/// A conversation that takes more is dropped, and read again page by page when its next turn begins.
const KEPT_BYTES: usize = 4 * 1024;
/// What was seen of files may take so much: a dozen versions, for which a table of 16 places is enough. What was seen the
/// longest ago is forgotten first.
const SEEN_BYTES: usize = 2_400;
/// How long the whole conversation is kept for a user who goes on soon.
const KEPT_FOR: Duration = Duration::from_secs(10);
/// How long is kept what makes the next turn faster, or saves it from reading files again. People think for longer than
/// a conversation takes to be read.
const WARM_FOR: Duration = Duration::from_mins(1);

/// Drops what can be read again once the session has been idle for long enough. Returns after how long to look again.
pub(super) fn shed_when_due(journal: &Journal, state: &mut JournalState) -> Option<Duration> {
    let idle = state.last_use.elapsed();
    if idle < KEPT_FOR && has_contents(journal, state) {
        return Some(KEPT_FOR.saturating_sub(idle));
    }
    shed_contents(journal, state);
    if idle < WARM_FOR {
        return Some(WARM_FOR.saturating_sub(idle));
    }
    rest(journal);
    None
}

/// Drops what can be read again. The lease has been given up and no turn runs.
pub(super) fn shed(journal: &Journal, state: &mut JournalState) {
    shed_contents(journal, state);
    rest(journal);
}

fn has_contents(journal: &Journal, state: &JournalState) -> bool {
    state.conversation.takes_more_than(KEPT_BYTES) || journal.seen.has_contents()
}

fn shed_contents(journal: &Journal, state: &mut JournalState) {
    journal.seen.drop_contents();
    if state.conversation.takes_more_than(KEPT_BYTES) {
        let totals = (state.conversation.turns(), state.conversation.usage());
        let whole = state.is_complete();
        state.conversation = Conversation::default();
        state.forget(whole.then_some(totals));
    }
}

fn rest(journal: &Journal) {
    journal.seen.shrink_to(SEEN_BYTES);
    if let Some(active) = journal.active.get().and_then(Weak::upgrade) {
        active.environment.workspace_head().drop_caches();
    }
}
