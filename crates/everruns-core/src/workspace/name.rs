use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::WorkspaceError;

/// The longest head name, in characters.
pub const MAX_HEAD_NAME_LENGTH: usize = 128;

/// A head's name for people: 1 to 128 characters, none of them a control character, no space at either end.
///
/// Names are unique among a workspace's heads that are not destroyed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct WorkspaceHeadName(String);

impl WorkspaceHeadName {
    /// Makes a name of `text`.
    ///
    /// # Errors
    /// [`WorkspaceError::InvalidName`] says what is wrong.
    pub fn new(text: impl Into<String>) -> Result<Self, WorkspaceError> {
        let text = text.into();
        let reason = if text.is_empty() {
            "it is empty"
        } else if text.chars().count() > MAX_HEAD_NAME_LENGTH {
            "it has more than 128 characters"
        } else if text.chars().any(char::is_control) {
            "it holds a control character"
        } else if text.trim() != text {
            "it starts or ends with a space"
        } else {
            return Ok(Self(text));
        };
        Err(WorkspaceError::InvalidName {
            name: text,
            reason: reason.to_owned(),
        })
    }

    /// The name's text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name in lower-case ASCII letters, digits and single dashes, at most 40 characters, never empty:
    /// fit for a branch or folder name. Different names may have the same slug.
    pub fn slug(&self) -> String {
        let mut slug = String::new();
        for c in self.0.chars() {
            if c.is_ascii_alphanumeric() {
                slug.push(c.to_ascii_lowercase());
            } else if !slug.is_empty() && !slug.ends_with('-') {
                slug.push('-');
            }
            if slug.len() >= 40 {
                break;
            }
        }
        let slug = slug.trim_end_matches('-');
        if slug.is_empty() {
            "head".to_owned()
        } else {
            slug.to_owned()
        }
    }
}

impl fmt::Display for WorkspaceHeadName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for WorkspaceHeadName {
    type Err = WorkspaceError;
    fn from_str(text: &str) -> Result<Self, WorkspaceError> {
        Self::new(text)
    }
}

impl TryFrom<String> for WorkspaceHeadName {
    type Error = WorkspaceError;
    fn try_from(text: String) -> Result<Self, WorkspaceError> {
        Self::new(text)
    }
}

impl From<WorkspaceHeadName> for String {
    fn from(name: WorkspaceHeadName) -> Self {
        name.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_checked() {
        for text in ["", " a", "a\n", &"x".repeat(129)] {
            assert!(
                matches!(
                    WorkspaceHeadName::new(text),
                    Err(WorkspaceError::InvalidName { .. })
                ),
                "{text:?}"
            );
        }
    }

    #[test]
    fn slugs_fit_for_branches() {
        let slug = |text: &str| WorkspaceHeadName::new(text).unwrap().slug();
        assert_eq!(slug("Fix the Parser!"), "fix-the-parser");
        assert_eq!(slug("日本"), "head");
        assert_eq!(slug("..@{x}~^:lock"), "x-lock");
        assert!(slug(&"a b".repeat(40)).len() <= 40);
    }
}
