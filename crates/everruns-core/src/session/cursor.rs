use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::SessionRecord;
use crate::clock::Timestamp;
use crate::ids::{IdError, SessionId};

/// Stands before the time; no id holds it, so that no id is taken for a cursor.
const MARK: char = '@';

/// A text that is no [`SessionCursor`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SessionCursorError {
    /// The text does not look like one; a session's id does not either.
    #[error(
        "`{}` is no place in a list of sessions: give the `next` of a page as it is",
        text.escape_debug()
    )]
    Malformed {
        /// The text.
        text: String,
    },
    /// The text looks like one, and names a session by something that is no id.
    #[error("the place in a list of sessions names no session: {0}")]
    Id(#[from] IdError),
}

/// A place in the list of sessions, the most recently changed first: what a page's `next` gives.
///
/// It stays where it is when the session that it was made of changes or is deleted. Its text is opaque, and may be
/// kept: it means the same place to every store, also after a restart.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SessionCursor {
    updated_at: Timestamp,
    id: SessionId,
}

impl SessionCursor {
    /// The place right behind `record`, as it was when it was read.
    pub fn behind(record: &SessionRecord) -> Self {
        Self {
            updated_at: record.updated_at,
            id: record.id.clone(),
        }
    }

    /// When the session at the place had changed. For stores: what follows has changed earlier, or then and has a
    /// smaller id.
    pub const fn updated_at(&self) -> Timestamp {
        self.updated_at
    }

    /// The session at the place. For stores.
    pub const fn id(&self) -> &SessionId {
        &self.id
    }
}

impl fmt::Display for SessionCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{MARK}{}", self.id, self.updated_at.as_millis())
    }
}

impl fmt::Debug for SessionCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SessionCursor({self})")
    }
}

impl FromStr for SessionCursor {
    type Err = SessionCursorError;

    fn from_str(text: &str) -> Result<Self, SessionCursorError> {
        let malformed = || SessionCursorError::Malformed {
            text: text.to_owned(),
        };
        let (id, millis) = text.rsplit_once(MARK).ok_or_else(malformed)?;
        let millis = millis.parse().map_err(|_| malformed())?;
        Ok(Self {
            updated_at: Timestamp::from_millis(millis),
            id: SessionId::new(id)?,
        })
    }
}

impl TryFrom<String> for SessionCursor {
    type Error = SessionCursorError;

    fn try_from(text: String) -> Result<Self, SessionCursorError> {
        text.parse()
    }
}

impl From<SessionCursor> for String {
    fn from(cursor: SessionCursor) -> Self {
        cursor.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_text_means_the_same_place() {
        for (id, millis) in [("ses_a", 0), ("a.b:c-d", -5), ("7", i64::MAX)] {
            let cursor = SessionCursor {
                updated_at: Timestamp::from_millis(millis),
                id: SessionId::new(id).unwrap(),
            };
            assert_eq!(cursor.to_string().parse(), Ok(cursor.clone()));
            let json = serde_json::to_string(&cursor).unwrap();
            assert_eq!(
                serde_json::from_str::<SessionCursor>(&json).unwrap(),
                cursor
            );
        }
    }

    #[test]
    fn an_id_and_other_texts_are_refused() {
        for text in [
            "",
            "ses_a",
            "17",
            "ses_a@",
            "ses_a@x",
            "ses_a@9223372036854775808",
        ] {
            let refused = text.parse::<SessionCursor>().unwrap_err();
            assert!(
                matches!(refused, SessionCursorError::Malformed { .. }),
                "{text}: {refused}"
            );
        }
        for text in ["@5", "a b@5", "a@b@5"] {
            let refused = text.parse::<SessionCursor>().unwrap_err();
            assert!(
                matches!(refused, SessionCursorError::Id(_)),
                "{text}: {refused}"
            );
        }
    }
}
