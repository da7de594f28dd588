//! Which files a session changed itself since its head was last kept.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use everruns_core::path::WorkspacePath;
use everruns_fs::{AuditEvent, AuditOperation, AuditSink};

/// With more changed paths than this, looking at everything is the smaller work.
const MOST_PATHS: usize = 10_000;

/// The paths at which a session changed something through its file stack.
#[derive(Debug)]
pub(crate) struct OwnChanges {
    /// Whether the file stack tells of its changes; where it does not, anything may always have changed.
    noted: bool,
    changes: Mutex<Changes>,
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
            changes: Mutex::new(Changes::Anywhere),
        }
    }

    /// Notes that something went around the file stack.
    pub(crate) fn anywhere(&self) {
        *self.lock() = Changes::Anywhere;
    }

    /// The changed paths; `None` if anything may have changed.
    pub(crate) fn paths(&self) -> Option<Vec<WorkspacePath>> {
        match &*self.lock() {
            Changes::Anywhere => None,
            Changes::At(paths) => Some(paths.iter().cloned().collect()),
        }
    }

    /// Forgets everything: the head is kept as it is now. Nothing of the session is changing it.
    pub(crate) fn kept(&self) {
        if self.noted {
            *self.lock() = Changes::At(BTreeSet::new());
        }
    }

    fn at(&self, path: &WorkspacePath) {
        let mut changes = self.lock();
        if let Changes::At(paths) = &mut *changes {
            paths.insert(path.clone());
            if paths.len() > MOST_PATHS {
                *changes = Changes::Anywhere;
            }
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Changes> {
        self.changes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl AuditSink for OwnChanges {
    /// Failed and abandoned changes count too: they may have been made in part.
    fn record(&self, change: &AuditEvent<'_>) {
        match change.operation {
            AuditOperation::Write { .. } => self.at(change.path),
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

    #[test]
    fn what_is_not_noted_may_be_anywhere_also_after_the_head_was_kept() {
        let (unnoted, noted) = (OwnChanges::new(false), OwnChanges::new(true));
        for changes in [&unnoted, &noted] {
            assert_eq!(changes.paths(), None, "before the session");
            changes.kept();
        }
        assert_eq!(unnoted.paths(), None);
        assert_eq!(noted.paths(), Some(Vec::new()));
    }
}
