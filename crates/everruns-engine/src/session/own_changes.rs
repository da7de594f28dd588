//! Which files a session changed itself since its head was last kept.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use everruns_core::path::WorkspacePath;
use everruns_core::session::FencingToken;
use everruns_fs::{AuditEvent, AuditOperation, AuditOutcome, AuditSink};

/// With more changed paths than this, looking at everything is the smaller work.
const MOST_PATHS: usize = 10_000;

/// The paths at which a session changed something through its file stack.
#[derive(Debug)]
pub(crate) struct OwnChanges {
    /// Whether the file stack tells of its changes; where it does not, anything may always have changed.
    noted: bool,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    changes: Changes,
    /// Nobody waited for the end of a change, which may be made at any time from now on.
    abandoned: bool,
    /// Under which lease the changes were noted.
    token: Option<FencingToken>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Changes {
    /// Anything may have changed.
    Anywhere,
    /// Only these paths.
    At(BTreeSet<WorkspacePath>),
}

impl OwnChanges {
    /// What was before the session is not known; what it does is, if it is `noted`.
    pub(crate) fn new(noted: bool) -> Self {
        Self {
            noted,
            state: Mutex::new(State {
                changes: Changes::Anywhere,
                abandoned: false,
                token: None,
            }),
        }
    }

    /// Notes that something went around the file stack.
    pub(crate) fn anywhere(&self) {
        self.lock().changes = Changes::Anywhere;
    }

    /// Notes which lease the session holds. Tokens only grow, so with the next one nobody had the session in between.
    pub(crate) fn held_under(&self, token: FencingToken) {
        let mut state = self.lock();
        let goes_on = state
            .token
            .is_some_and(|last| token == last || last.0.checked_add(1) == Some(token.0));
        if !goes_on {
            state.changes = Changes::Anywhere;
        }
        state.token = Some(token);
    }

    /// Takes the changes so far, in order to keep them. Unless they are then told to be kept, they are taken back.
    pub(crate) fn take(&self) -> TakenChanges<'_> {
        let mut state = self.lock();
        if !self.noted || state.abandoned {
            state.changes = Changes::Anywhere;
            return TakenChanges {
                own: self,
                taken: Changes::Anywhere,
                kept: true,
            };
        }
        let nothing = Changes::At(BTreeSet::new());
        TakenChanges {
            own: self,
            taken: std::mem::replace(&mut state.changes, nothing),
            kept: false,
        }
    }

    /// Notes that a change may still be made, at any time.
    fn abandoned(&self) {
        self.lock().abandoned = true;
    }

    fn at(&self, path: &WorkspacePath) {
        let mut state = self.lock();
        if let Changes::At(paths) = &mut state.changes {
            paths.insert(path.clone());
            if paths.len() > MOST_PATHS {
                state.changes = Changes::Anywhere;
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Changes that are about to be kept.
#[derive(Debug)]
pub(crate) struct TakenChanges<'a> {
    own: &'a OwnChanges,
    taken: Changes,
    kept: bool,
}

impl TakenChanges<'_> {
    /// The changed paths; `None` if anything may have changed.
    pub(crate) fn paths(&self) -> Option<Vec<WorkspacePath>> {
        match &self.taken {
            Changes::Anywhere => None,
            Changes::At(paths) => Some(paths.iter().cloned().collect()),
        }
    }

    /// Forgets them: the head is kept as it was with them.
    pub(crate) fn kept(mut self) {
        self.kept = true;
    }
}

impl Drop for TakenChanges<'_> {
    fn drop(&mut self) {
        if self.kept {
            return;
        }
        let mut state = self.own.lock();
        match (&mut self.taken, &mut state.changes) {
            (Changes::At(taken), Changes::At(since)) => since.append(taken),
            (_, since) => *since = Changes::Anywhere,
        }
    }
}

impl AuditSink for OwnChanges {
    /// Failed changes count too: they may have been made in part.
    fn record(&self, change: &AuditEvent<'_>) {
        if matches!(change.outcome, AuditOutcome::Abandoned) {
            self.abandoned();
        }
        match change.operation {
            AuditOperation::Write { .. } | AuditOperation::CreateLink { .. } => {
                self.at(change.path);
            }
            AuditOperation::Rename { to, .. } if change.before.is_some() => {
                self.at(change.path);
                self.at(to);
            }
            AuditOperation::Remove { .. } if change.before.is_some() => self.at(change.path),
            // A folder without files is no part of what is kept.
            AuditOperation::CreateDir => {}
            // Folders, and whatever else there may be one day.
            _ => self.anywhere(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> WorkspacePath {
        WorkspacePath::parse(text).unwrap()
    }

    fn paths(own: &OwnChanges) -> Option<Vec<String>> {
        let paths = own.take().paths()?;
        Some(paths.iter().map(ToString::to_string).collect())
    }

    /// Noted changes of a session that was kept once.
    fn kept_once() -> OwnChanges {
        let own = OwnChanges::new(true);
        own.take().kept();
        assert_eq!(paths(&own), Some(Vec::new()));
        own
    }

    #[test]
    fn what_is_not_noted_may_be_anywhere_also_after_the_head_was_kept() {
        let own = OwnChanges::new(false);
        assert_eq!(paths(&own), None, "before the session");
        own.take().kept();
        assert_eq!(paths(&own), None);
    }

    #[test]
    fn what_comes_while_others_are_kept_stays() {
        let own = kept_once();
        own.at(&path("a"));
        let taken = own.take();
        own.at(&path("b"));
        taken.kept();
        assert_eq!(paths(&own).unwrap().len(), 1);
    }

    #[test]
    fn what_could_not_be_kept_is_taken_back() {
        let own = kept_once();
        own.at(&path("a"));
        let taken = own.take();
        own.at(&path("b"));
        drop(taken);
        assert_eq!(paths(&own).unwrap().len(), 2);
        let taken = own.take();
        own.anywhere();
        drop(taken);
        assert_eq!(paths(&own), None);
    }

    #[test]
    fn h55_after_an_abandoned_change_nothing_is_certain_any_more() {
        let own = kept_once();
        own.abandoned();
        for _ in 0..2 {
            assert_eq!(paths(&own), None);
            own.take().kept();
        }
    }

    #[test]
    fn h53_after_another_holder_of_the_session_anything_may_have_changed() {
        let own = kept_once();
        own.held_under(FencingToken(7));
        own.take().kept();
        for token in [7, 8, 9] {
            own.held_under(FencingToken(token));
            assert_eq!(paths(&own), Some(Vec::new()), "{token}");
        }
        own.held_under(FencingToken(11));
        assert_eq!(paths(&own), None);
    }
}
