use std::fmt;

/// A check that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedCheck {
    /// Its name: the module of the suite and the check.
    pub name: &'static str,
    /// What was found and what was expected.
    pub message: String,
}

/// What a run of a suite found.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "a report that nobody reads proves nothing"]
pub struct Report {
    /// The suite's name.
    pub suite: &'static str,
    /// The checks that passed.
    pub passed: Vec<&'static str>,
    /// The checks that failed.
    pub failed: Vec<FailedCheck>,
}

impl Report {
    pub(crate) const fn new(suite: &'static str) -> Self {
        Self {
            suite,
            passed: Vec::new(),
            failed: Vec::new(),
        }
    }

    /// Whether the check of this name failed.
    pub fn has_failed(&self, name: &str) -> bool {
        self.failed.iter().any(|check| check.name == name)
    }

    /// Panics with all failures, if there are any, or if no check ran.
    ///
    /// # Panics
    /// When a check failed or none ran.
    pub fn assert_passed(&self) {
        assert!(self.failed.is_empty() && !self.passed.is_empty(), "{self}");
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (passed, failed) = (self.passed.len(), self.failed.len());
        writeln!(f, "{}: {passed} checks passed, {failed} failed", self.suite)?;
        self.failed
            .iter()
            .try_for_each(|check| writeln!(f, "  FAILED {}: {}", check.name, check.message))
    }
}
