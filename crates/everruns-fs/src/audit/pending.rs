use everruns_core::file_system::{ContentVersion, FileSystemError};
use everruns_core::path::WorkspacePath;

use super::{AuditEvent, AuditOperation, AuditOutcome, AuditSink};

/// A change under way. It is recorded as abandoned when it is dropped before it is settled.
pub(super) struct Pending<'a> {
    sink: &'a dyn AuditSink,
    path: &'a WorkspacePath,
    operation: AuditOperation<'a>,
    before: Option<ContentVersion>,
    settled: bool,
}

impl<'a> Pending<'a> {
    pub(super) fn new(
        sink: &'a dyn AuditSink,
        path: &'a WorkspacePath,
        operation: AuditOperation<'a>,
    ) -> Self {
        Self {
            sink,
            path,
            operation,
            before: None,
            settled: false,
        }
    }

    /// Tells what was there before.
    pub(super) fn was(&mut self, before: Option<ContentVersion>) {
        self.before = before;
    }

    /// Records the end. `after` is the version that a change which was made leaves at its path or destination.
    pub(super) fn settle<T>(
        mut self,
        result: &Result<T, FileSystemError>,
        after: impl FnOnce(&T) -> Option<ContentVersion>,
    ) {
        self.settled = true;
        match result {
            Ok(value) => self.record(after(value), AuditOutcome::Done),
            Err(error) => {
                if let FileSystemError::Conflict { current, .. } = error {
                    self.before = *current;
                }
                self.record(None, AuditOutcome::Failed(error));
            }
        }
    }

    fn record(&self, after: Option<ContentVersion>, outcome: AuditOutcome<'_>) {
        self.sink.record(&AuditEvent {
            path: self.path,
            operation: self.operation,
            before: self.before,
            after,
            outcome,
        });
    }
}

impl Drop for Pending<'_> {
    fn drop(&mut self) {
        if !self.settled {
            self.record(None, AuditOutcome::Abandoned);
        }
    }
}
