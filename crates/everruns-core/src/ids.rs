//! Identifiers: opaque strings of 1 to 128 characters, parsed once at the boundary.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::entropy::Entropy;

/// The longest identifier, in characters.
pub const MAX_ID_LENGTH: usize = 128;

/// A text that cannot be an identifier.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IdError {
    /// The text is empty.
    #[error("a {kind} is empty: give 1 to {MAX_ID_LENGTH} characters")]
    Empty {
        /// Which identifier it was to be.
        kind: &'static str,
    },
    /// The text is longer than [`MAX_ID_LENGTH`].
    #[error("a {kind} has {length} characters: at most {MAX_ID_LENGTH} are allowed")]
    TooLong {
        /// Which identifier it was to be.
        kind: &'static str,
        /// The text's length in characters.
        length: usize,
    },
    /// The text holds a character outside `A–Z a–z 0–9 . _ : -`.
    #[error("a {kind} holds {character:?}: use letters, digits, `.`, `_`, `:` and `-`")]
    Character {
        /// Which identifier it was to be.
        kind: &'static str,
        /// The first character that is not allowed.
        character: char,
    },
}

fn check(kind: &'static str, text: &str) -> Result<(), IdError> {
    if text.is_empty() {
        return Err(IdError::Empty { kind });
    }
    let length = text.chars().count();
    if length > MAX_ID_LENGTH {
        return Err(IdError::TooLong { kind, length });
    }
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | ':' | '-');
    match text.chars().find(|&c| !allowed(c)) {
        Some(character) => Err(IdError::Character { kind, character }),
        None => Ok(()),
    }
}

/// 100 random bits in lower-case letters and digits, without `i`, `l`, `o` and `u`.
fn random_text(prefix: &str, entropy: &dyn Entropy) -> String {
    const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
    let mut bytes = [0_u8; 20];
    entropy.fill(&mut bytes);
    let random = bytes
        .iter()
        .map(|byte| char::from(ALPHABET[usize::from(byte & 31)]));
    prefix.chars().chain(random).collect()
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $kind:literal) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl $name {
            /// Makes an identifier of `text`.
            ///
            /// # Errors
            /// [`IdError`] when the text is empty, longer than [`MAX_ID_LENGTH`] characters, or holds a
            /// character outside `A–Z a–z 0–9 . _ : -`.
            pub fn new(text: impl Into<String>) -> Result<Self, IdError> {
                let text = text.into();
                check($kind, &text)?;
                Ok(Self(text))
            }

            /// The identifier's text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({})", stringify!($name), self.0)
            }
        }

        impl FromStr for $name {
            type Err = IdError;
            fn from_str(text: &str) -> Result<Self, IdError> {
                Self::new(text)
            }
        }

        impl TryFrom<String> for $name {
            type Error = IdError;
            fn try_from(text: String) -> Result<Self, IdError> {
                Self::new(text)
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> String {
                id.0
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }
    };
}

id!(
    /// Names a session for ever.
    SessionId,
    "session id"
);
id!(
    /// Names a workspace: a project's lineage.
    WorkspaceId,
    "workspace id"
);
id!(
    /// Names a head for ever; it never comes to mean other content.
    WorkspaceHeadId,
    "head id"
);
id!(
    /// Names a backend, such as `local-git` or `memory`.
    WorkspaceBackendId,
    "backend id"
);

impl SessionId {
    /// A new id with 100 random bits, such as `ses_7h2k…`.
    pub fn generate(entropy: &dyn Entropy) -> Self {
        Self(random_text("ses_", entropy))
    }
}

impl WorkspaceId {
    /// A new id with 100 random bits, for a backend whose workspaces have no natural identity.
    pub fn generate(entropy: &dyn Entropy) -> Self {
        Self(random_text("ws_", entropy))
    }
}

impl WorkspaceHeadId {
    /// A new id with 100 random bits, such as `head_7h2k…`.
    pub fn generate(entropy: &dyn Entropy) -> Self {
        Self(random_text("head_", entropy))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entropy::SystemEntropy;

    #[test]
    fn ids_have_1_to_128_characters() {
        assert_eq!(
            SessionId::new(""),
            Err(IdError::Empty { kind: "session id" })
        );
        assert!(SessionId::new("x".repeat(128)).is_ok());
        assert!(matches!(
            SessionId::new("x".repeat(129)),
            Err(IdError::TooLong { length: 129, .. })
        ));
        assert!(matches!(
            WorkspaceHeadId::new("a/b"),
            Err(IdError::Character { character: '/', .. })
        ));
    }

    #[test]
    fn generated_ids_differ_and_parse() {
        let first = SessionId::generate(&SystemEntropy);
        assert_ne!(first, SessionId::generate(&SystemEntropy));
        assert_eq!(first.as_str().parse(), Ok(first));
    }

    #[test]
    fn deserializing_checks_too() {
        assert!(serde_json::from_str::<SessionId>("\"\"").is_err());
    }
}
