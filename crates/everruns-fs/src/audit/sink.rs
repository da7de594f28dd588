use super::AuditEvent;

/// Where the changes go that an [`AuditFileSystem`](super::AuditFileSystem) sees. Any function of a change is one.
pub trait AuditSink: Send + Sync {
    /// Takes one change. Called once for each change, after it, on the task that made it: it must not block for
    /// long. Changes made at the same time come in any order.
    fn record(&self, change: &AuditEvent<'_>);
}

impl<F: Fn(&AuditEvent<'_>) + Send + Sync> AuditSink for F {
    fn record(&self, change: &AuditEvent<'_>) {
        self(change);
    }
}
