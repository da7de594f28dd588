use std::any::Any;
use std::fmt;

/// Keeps a head from being destroyed while it lives: somebody is at work on it.
///
/// Dropping it lets the head go. The end of its process does, too.
#[must_use = "the head is let go as soon as this is dropped"]
pub struct HeadHold {
    _guard: Option<Box<dyn Any + Send + Sync>>,
}

impl HeadHold {
    /// Holds the head for as long as `guard`, which is the backend's own, is not dropped.
    pub fn new(guard: impl Any + Send + Sync) -> Self {
        Self {
            _guard: Some(Box::new(guard)),
        }
    }

    /// Holds nothing, for a backend whose heads are never destroyed.
    pub fn nothing() -> Self {
        Self { _guard: None }
    }
}

impl fmt::Debug for HeadHold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HeadHold").finish_non_exhaustive()
    }
}
