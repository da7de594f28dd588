use std::sync::Arc;
use std::time::Duration;

use everruns_core::model::{ModelError, ModelErrorKind, ModelStream};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use rustls_platform_verifier::BuilderVerifierExt;
use serde_json::Value;
use url::Url;

use super::failure::Failure;
use super::stream::{self, Decoder};
use super::{ApiKey, BaseUrl};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);
/// Reasoning models are silent for minutes; a connection that is silent for longer is lost.
const SILENCE_TIMEOUT: Duration = Duration::from_mins(10);
/// No more of the body of a failure is read.
const LARGEST_FAILURE: usize = 64 * 1024;

/// Sends requests to one provider.
#[derive(Clone, Debug)]
pub(crate) struct HttpClient {
    client: reqwest::Client,
    provider: &'static str,
}

impl HttpClient {
    /// A client for `base`. The proxies that the environment names are used only with `environment_proxies`, and
    /// never for this machine. Redirects are not followed: they would carry the key elsewhere.
    pub(crate) fn new(
        provider: &'static str,
        base: &BaseUrl,
        environment_proxies: bool,
    ) -> Result<Self, ModelError> {
        let mut builder = reqwest::Client::builder()
            .user_agent(concat!("everruns/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(CONNECT_TIMEOUT)
            .read_timeout(SILENCE_TIMEOUT)
            .redirect(reqwest::redirect::Policy::none())
            .tls_backend_preconfigured(tls()?);
        if !environment_proxies || base.is_loopback() {
            builder = builder.no_proxy();
        }
        let client = builder
            .build()
            .map_err(|error| setup_failed(error.without_url()))?;
        Ok(Self { client, provider })
    }

    /// Posts `body` and reads the answer with `decoder`.
    pub(crate) async fn stream<D: Decoder>(
        &self,
        url: Url,
        headers: HeaderMap,
        body: &Value,
        decoder: D,
        key: &ApiKey,
    ) -> Result<ModelStream, Refusal> {
        let request = self
            .client
            .post(url)
            .headers(headers)
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "text/event-stream")
            .body(body.to_string());
        let response = request
            .send()
            .await
            .map_err(|error| send_failed(self.provider, error))?;
        if !response.status().is_success() {
            let no_such_path = matches!(response.status().as_u16(), 404 | 405);
            let error = refused(response).await.into_error(self.provider, key);
            return Err(Refusal {
                error,
                no_such_path,
            });
        }
        stream::check_content_type(&response)?;
        Ok(stream::read(response, decoder, self.provider, key.clone()))
    }
}

/// A request that got no stream.
pub(crate) struct Refusal {
    pub(crate) error: ModelError,
    /// The server may have nothing at the path that was asked.
    #[cfg_attr(
        not(feature = "openai"),
        expect(dead_code, reason = "only OpenAI has two paths")
    )]
    pub(crate) no_such_path: bool,
}

impl From<ModelError> for Refusal {
    fn from(error: ModelError) -> Self {
        Self {
            error,
            no_such_path: false,
        }
    }
}

/// A header whose value no `Debug` output shows.
pub(crate) fn secret_header(
    name: &'static str,
    value: &str,
) -> Result<(HeaderName, HeaderValue), ModelError> {
    let mut value = HeaderValue::from_str(value).map_err(|_| {
        let message =
            format!("the value for the header `{name}` holds characters that no header can have");
        ModelError::new(ModelErrorKind::Configuration, message)
    })?;
    value.set_sensitive(true);
    Ok((HeaderName::from_static(name), value))
}

/// TLS by ring and the system's certificates, without touching what the process has set as its default.
fn tls() -> Result<rustls::ClientConfig, ModelError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(BuilderVerifierExt::with_platform_verifier)
        .map_err(setup_failed)?;
    Ok(config.with_no_client_auth())
}

fn setup_failed(error: impl std::error::Error + Send + Sync + 'static) -> ModelError {
    let message = format!("the HTTP client could not be set up: {error}");
    ModelError::new(ModelErrorKind::Configuration, message).with_source(error)
}

fn send_failed(provider: &str, error: reqwest::Error) -> ModelError {
    let problem = if error.is_timeout() {
        "did not answer in time"
    } else {
        "could not be reached; check the network and the base URL"
    };
    ModelError::new(ModelErrorKind::Connection, format!("{provider} {problem}"))
        .with_source(error.without_url())
}

/// The connection was lost while the body came. What a cut connection looks like depends on how the server frames its
/// body, so all of it is a truncation.
pub(super) fn body_failed(provider: &str, error: reqwest::Error) -> ModelError {
    let message = format!("the connection to {provider} was lost before its answer was complete");
    ModelError::new(ModelErrorKind::Truncated, message).with_source(error.without_url())
}

async fn refused(mut response: reqwest::Response) -> Failure {
    let status = response.status().as_u16();
    let retry_after = retry_after(response.headers());
    let mut body = Vec::new();
    // A body that breaks off still says something; its status says the rest.
    while let Ok(Some(bytes)) = response.chunk().await {
        body.extend_from_slice(&bytes);
        if body.len() > LARGEST_FAILURE {
            break;
        }
    }
    let mut failure = match serde_json::from_slice::<Value>(&body) {
        Ok(value) => Failure::from_json(&value),
        Err(_) => Failure::default(),
    };
    failure.status = Some(status);
    failure.retry_after = retry_after;
    failure
}

/// How long the provider asks to wait. A date is not read: it would need a clock that agrees with the provider's.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let number = |name: &str| headers.get(name)?.to_str().ok()?.trim().parse::<f64>().ok();
    let seconds = number("retry-after-ms")
        .map(|millis| millis / 1_000.0)
        .or_else(|| number("retry-after"))?;
    Duration::try_from_secs_f64(seconds).ok()
}
