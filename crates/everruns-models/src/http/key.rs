use std::fmt;

use everruns_core::model::{ModelError, ModelErrorKind};

/// A key that no `Debug` output shows.
#[derive(Clone)]
pub(crate) struct ApiKey(String);

impl ApiKey {
    /// Takes a key that can be sent in a header.
    pub(crate) fn parse(key: &str) -> Result<Self, ModelError> {
        let key = key.trim();
        if key.is_empty() || !key.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(ModelError::new(
                ModelErrorKind::Configuration,
                "the API key is empty or holds characters that no key has; check how it was copied",
            ));
        }
        Ok(Self(key.to_owned()))
    }

    pub(crate) fn expose(&self) -> &str {
        &self.0
    }

    /// Takes the key out of a text that came from elsewhere.
    pub(crate) fn redact(&self, text: &str) -> String {
        text.replace(&self.0, "[key]")
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("[hidden]")
    }
}
