use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::WorkspaceHeadAccess;
use crate::ids::{WorkspaceBackendId, WorkspaceHeadId, WorkspaceId};

/// The largest payload, in bytes of its JSON text.
pub const MAX_PAYLOAD_BYTES: usize = 64 * 1024;

/// A payload that cannot be persisted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BindingError {
    /// The payload is larger than [`MAX_PAYLOAD_BYTES`].
    #[error("the binding payload has {size} bytes: at most {MAX_PAYLOAD_BYTES} are allowed")]
    TooLarge {
        /// Its size in bytes.
        size: usize,
    },
    /// The payload seems to hold a credential. The value itself is not in this error.
    #[error(
        "the binding payload seems to hold a credential at `{at}`: keep credentials in the backend"
    )]
    Credential {
        /// Where in the payload, as a JSON pointer.
        at: String,
    },
    /// The text is no JSON.
    #[error("the binding payload is no JSON")]
    Json(#[from] serde_json::Error),
}

/// What a backend needs to find a head again: opaque to everyone else, at most 64 KiB, no credentials.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "Value", into = "Value")]
pub struct BindingPayload(Value);

impl BindingPayload {
    /// Makes a payload of any serializable `value`.
    ///
    /// # Errors
    /// [`BindingError`] when it is too large or seems to hold a credential: a key such as `password` or
    /// `token` with a non-empty text, or a URL with a password in it.
    pub fn new(value: impl Serialize) -> Result<Self, BindingError> {
        Self::try_from(serde_json::to_value(value)?)
    }

    /// Reads a payload from its persisted JSON text.
    ///
    /// # Errors
    /// [`BindingError`] as for [`new`](Self::new), or when the text is no JSON.
    pub fn from_json(text: &str) -> Result<Self, BindingError> {
        if text.len() > MAX_PAYLOAD_BYTES {
            return Err(BindingError::TooLarge { size: text.len() });
        }
        Self::try_from(serde_json::from_str::<Value>(text)?)
    }

    /// The payload as a value.
    pub fn value(&self) -> &Value {
        &self.0
    }

    /// The payload as JSON text, for a store.
    pub fn to_json(&self) -> String {
        self.0.to_string()
    }
}

impl TryFrom<Value> for BindingPayload {
    type Error = BindingError;
    fn try_from(value: Value) -> Result<Self, BindingError> {
        let size = value.to_string().len();
        if size > MAX_PAYLOAD_BYTES {
            return Err(BindingError::TooLarge { size });
        }
        match find_credential(&value, "") {
            Some(at) => Err(BindingError::Credential { at }),
            None => Ok(Self(value)),
        }
    }
}

impl From<BindingPayload> for Value {
    fn from(payload: BindingPayload) -> Self {
        payload.0
    }
}

fn find_credential(value: &Value, at: &str) -> Option<String> {
    match value {
        Value::Object(map) => map.iter().find_map(|(key, inner)| {
            let here = format!("{at}/{key}");
            let filled = inner.as_str().is_some_and(|text| !text.is_empty());
            if filled && names_a_credential(key) {
                Some(here)
            } else {
                find_credential(inner, &here)
            }
        }),
        Value::Array(items) => items
            .iter()
            .enumerate()
            .find_map(|(index, inner)| find_credential(inner, &format!("{at}/{index}"))),
        Value::String(text) => has_url_password(text).then(|| at.to_owned()),
        _ => None,
    }
}

fn names_a_credential(key: &str) -> bool {
    let key: String = key
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .collect::<String>()
        .to_ascii_lowercase();
    [
        "password",
        "passwd",
        "secret",
        "apikey",
        "accesstoken",
        "authtoken",
        "authorization",
        "privatekey",
    ]
    .iter()
    .any(|word| key.contains(word))
        || key == "token"
}

fn has_url_password(text: &str) -> bool {
    let Some((_, rest)) = text.split_once("://") else {
        return false;
    };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    authority
        .split_once('@')
        .is_some_and(|(user, _)| user.contains(':'))
}

/// What a store keeps of a session's head, enough to find exactly that head again.
///
/// The field `provider_id` keeps the name under which it has always been persisted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkspaceBinding {
    /// The backend that keeps the head.
    pub provider_id: WorkspaceBackendId,
    /// The workspace that the head belongs to.
    pub workspace_id: WorkspaceId,
    /// The head.
    pub head_id: WorkspaceHeadId,
    /// How many sessions the head serves.
    pub access: WorkspaceHeadAccess,
    /// What the backend needs besides, opaque to everyone else.
    pub payload: BindingPayload,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn c14_payloads_hold_no_credentials() {
        for value in [
            json!({"api_key": "x"}),
            json!({"remote": {"accessToken": "x"}}),
            json!(["https://me:pw@example.org/r.git"]),
            json!({"token": "x"}),
        ] {
            assert!(
                matches!(
                    BindingPayload::new(&value),
                    Err(BindingError::Credential { .. })
                ),
                "{value}"
            );
        }
        for value in [
            json!({"path": "/a@b:c"}),
            json!({"url": "https://me@example.org"}),
            json!({"token": ""}),
        ] {
            assert!(BindingPayload::new(&value).is_ok(), "{value}");
        }
    }

    #[test]
    fn payloads_are_bounded() {
        let largest = "x".repeat(MAX_PAYLOAD_BYTES - 2);
        assert!(BindingPayload::new(&largest).is_ok());
        assert!(matches!(
            BindingPayload::new(format!("{largest}x")),
            Err(BindingError::TooLarge { size: 65_537 })
        ));
    }

    #[test]
    fn c25_the_persisted_field_is_provider_id() {
        let binding = WorkspaceBinding {
            provider_id: WorkspaceBackendId::new("memory").unwrap(),
            workspace_id: WorkspaceId::new("w").unwrap(),
            head_id: WorkspaceHeadId::new("h").unwrap(),
            access: WorkspaceHeadAccess::Isolated,
            payload: BindingPayload::default(),
        };
        let json = serde_json::to_value(&binding).unwrap();
        assert_eq!(
            json,
            json!({"provider_id": "memory", "workspace_id": "w", "head_id": "h", "access": "isolated",
                   "payload": null})
        );
        assert_eq!(
            serde_json::from_value::<WorkspaceBinding>(json).unwrap(),
            binding
        );
    }
}
