use std::env;

use async_trait::async_trait;
use everruns_core::model::{ModelError, ModelErrorKind, ModelProvider, ModelRequest, ModelStream};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

use super::messages::MessagesDecoder;
use super::request;
use crate::http::{ApiKey, BaseUrl, HttpClient, secret_header};

const DEFAULT_BASE_URL: &str = "https://api.anthropic.com";
const VERSION: (HeaderName, HeaderValue) = (
    HeaderName::from_static("anthropic-version"),
    HeaderValue::from_static("2023-06-01"),
);

/// The models of Anthropic, through its **Messages API**.
///
/// Requests go to `<base URL>/v1/messages`; a base URL that ends with `/v1` is taken as it is.
#[derive(Clone, Debug)]
pub struct Anthropic {
    http: HttpClient,
    base: BaseUrl,
    key: ApiKey,
    output_limit: Option<u32>,
}

impl Anthropic {
    /// Reads `ANTHROPIC_API_KEY` and, where it is set, `ANTHROPIC_BASE_URL`. The proxies that the environment names
    /// are used. No other constructor reads the environment.
    ///
    /// # Errors
    /// [`ModelErrorKind::Configuration`] when the key is missing or one of the values is malformed.
    pub fn from_env() -> Result<Self, ModelError> {
        Self::from_variables(|name| env::var(name).ok())
    }

    /// Anthropic with this key.
    ///
    /// # Errors
    /// [`ModelErrorKind::Configuration`] when the key can be none.
    pub fn new(key: impl AsRef<str>) -> Result<Self, ModelError> {
        Self::build(DEFAULT_BASE_URL, key.as_ref(), false)
    }

    /// A server that speaks the Messages API.
    ///
    /// # Errors
    /// [`ModelErrorKind::Configuration`] when the URL or the key is malformed.
    pub fn compatible(base_url: impl AsRef<str>, key: impl AsRef<str>) -> Result<Self, ModelError> {
        Self::build(base_url.as_ref(), key.as_ref(), false)
    }

    /// Sets how many tokens an answer may have. The API demands a limit; without this it is what the model's
    /// generation allows, at most 32 000.
    #[must_use]
    pub fn with_output_limit(mut self, tokens: u32) -> Self {
        self.output_limit = Some(tokens);
        self
    }

    fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Result<Self, ModelError> {
        let set = |name: &str| variable(name).filter(|value| !value.trim().is_empty());
        let Some(key) = set("ANTHROPIC_API_KEY") else {
            let message = "no key for Anthropic: set ANTHROPIC_API_KEY, and ANTHROPIC_BASE_URL for another server";
            return Err(ModelError::new(ModelErrorKind::Configuration, message));
        };
        let base = set("ANTHROPIC_BASE_URL").unwrap_or_else(|| DEFAULT_BASE_URL.to_owned());
        Self::build(&base, &key, true)
    }

    fn build(base: &str, key: &str, proxies: bool) -> Result<Self, ModelError> {
        let base = BaseUrl::parse(base)?;
        Ok(Self {
            http: HttpClient::new("Anthropic", &base, proxies)?,
            base,
            key: ApiKey::parse(key)?,
            output_limit: None,
        })
    }
}

#[async_trait]
impl ModelProvider for Anthropic {
    fn name(&self) -> &'static str {
        "anthropic"
    }

    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, ModelError> {
        let path = if self.base.ends_with("v1") {
            "messages"
        } else {
            "v1/messages"
        };
        let key = secret_header("x-api-key", self.key.expose())?;
        let headers = HeaderMap::from_iter([VERSION, key]);
        let body = request::body(&request, self.output_limit);
        let decoder = MessagesDecoder::default();
        let url = self.base.join(path);
        let streamed = self.http.stream(url, headers, &body, decoder, &self.key);
        streamed.await.map_err(|refusal| refusal.error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_key_names_the_variable_to_set() {
        let error = Anthropic::from_variables(|_| None).unwrap_err();
        assert_eq!(error.kind, ModelErrorKind::Configuration);
        assert!(error.to_string().contains("ANTHROPIC_API_KEY"), "{error}");
    }

    #[test]
    fn debug_hides_the_key() {
        let provider = Anthropic::new("sk-ant-very-secret").unwrap();
        assert!(!format!("{provider:?}").contains("very-secret"));
    }
}
