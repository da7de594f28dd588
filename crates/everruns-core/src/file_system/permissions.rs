use serde::{Deserialize, Serialize};

/// The permission bits of an entry of a tree that has some: what its owner, its group and all others may do.
///
/// Whose they are, access-control lists, and what else a host may know of an entry are no part of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "u16", into = "u16")]
pub struct Permissions(u16);

impl Permissions {
    /// The nine lowest of `bits`, as in `0o644`.
    pub const fn new(bits: u16) -> Self {
        Self(bits & 0o777)
    }

    /// The nine bits.
    pub const fn bits(self) -> u16 {
        self.0
    }

    /// Whether the owner may execute it.
    pub const fn executable(self) -> bool {
        self.0 & 0o100 != 0
    }

    /// Whether these allow anybody anything that `other` does not.
    pub const fn exceed(self, other: Self) -> bool {
        self.0 & !other.0 != 0
    }
}

impl From<u16> for Permissions {
    fn from(bits: u16) -> Self {
        Self::new(bits)
    }
}

impl From<Permissions> for u16 {
    fn from(permissions: Permissions) -> Self {
        permissions.bits()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nine_bits_are_compared_one_by_one() {
        let new = Permissions::new;
        assert_eq!(new(0o104_644), new(0o644));
        assert!(new(0o640).exceed(new(0o604)) && !new(0o600).exceed(new(0o644)));
        assert!(new(0o500).executable() && !new(0o655 & 0o677).executable());
    }
}
