use std::error::Error;
use std::fmt;
use std::panic::Location;

/// Why a check failed, and at which line of the suite.
///
/// Any error becomes one through `?`. It is no `Error` itself, so that this conversion can be general.
pub struct Failure {
    message: String,
    location: &'static Location<'static>,
}

/// What a check gives.
pub type CheckResult = Result<(), Failure>;

impl Failure {
    /// A failure at the caller's line.
    #[track_caller]
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            location: Location::caller(),
        }
    }
}

impl<E: Error> From<E> for Failure {
    #[track_caller]
    fn from(error: E) -> Self {
        Self::new(format!("unexpected error: {error} ({error:?})"))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (file, line) = (self.location.file(), self.location.line());
        write!(f, "{} (at {file}:{line})", self.message)
    }
}

impl fmt::Debug for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
