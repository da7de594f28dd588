use everruns_core::compute::ComputeError;
use landlock::{
    ABI, Access as _, AccessFs, CompatLevel, Compatible as _, Ruleset, RulesetAttr as _,
};

use super::filter;

/// What this host can enforce.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Probe {
    /// Landlock can deny all writes, truncation included.
    pub(super) landlock: bool,
    /// System calls can be filtered on this processor.
    pub(super) filter: bool,
}

impl Probe {
    /// Asks the kernel; nothing is restricted by that.
    pub(super) fn of_this_host() -> Self {
        let ruleset = Ruleset::default()
            .set_compatibility(CompatLevel::HardRequirement)
            .handle_access(AccessFs::from_all(ABI::V3))
            .and_then(Ruleset::create);
        Self {
            landlock: ruleset.is_ok(),
            filter: filter::is_known_processor(),
        }
    }

    /// Fails when something is missing.
    pub(super) fn check(self) -> Result<(), ComputeError> {
        let mut missing = Vec::new();
        if !self.landlock {
            missing.push("Landlock of Linux 6.2 or newer (ABI 3), switched on in the kernel");
        }
        if !self.filter {
            missing.push("a system call filter for this processor");
        }
        if missing.is_empty() {
            return Ok(());
        }
        Err(ComputeError::IsolationUnavailable {
            missing: missing.join("; "),
        })
    }
}
