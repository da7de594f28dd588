//! The names of claims.

use std::fmt;
use std::ops::RangeInclusive;

/// The claims about the library, each of which must be in the table.
pub(super) const LIBRARY: RangeInclusive<u8> = 1..=25;

/// `C07`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ClaimId(pub(super) u8);

impl ClaimId {
    /// Parses `C07`; nothing else is an id.
    pub(super) fn parse(text: &str) -> Option<Self> {
        Self::from_digits(text.strip_prefix('C')?)
    }

    /// The ids with which the name of a test begins: `c07_c08_shared` has two.
    pub(super) fn of_test(name: &str) -> Vec<Self> {
        name.split('_')
            .map_while(|part| Self::from_digits(part.strip_prefix('c')?))
            .collect()
    }

    fn from_digits(digits: &str) -> Option<Self> {
        let two_digits = digits.len() == 2 && digits.bytes().all(|byte| byte.is_ascii_digit());
        two_digits.then(|| digits.parse().ok().map(Self)).flatten()
    }
}

impl fmt::Display for ClaimId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "C{:02}", self.0)
    }
}
