use std::fmt;
use std::sync::Arc;
use std::time::Instant;

/// Tells those who look into a file whether it is still worth it.
#[derive(Clone, Default)]
pub(super) struct Watch {
    pub(super) deadline: Option<Instant>,
    pub(super) is_abandoned: Option<Arc<dyn Fn() -> bool + Send + Sync>>,
}

impl Watch {
    /// Whether time is up, or nobody listens any more.
    pub(super) fn is_over(&self) -> bool {
        self.deadline.is_some_and(|end| Instant::now() >= end)
            || self
                .is_abandoned
                .as_ref()
                .is_some_and(|is_abandoned| is_abandoned())
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch")
            .field("deadline", &self.deadline)
            .finish_non_exhaustive()
    }
}
