use std::env;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use everruns_core::model::{ModelError, ModelErrorKind, ModelProvider, ModelRequest, ModelStream};
use reqwest::header::{AUTHORIZATION, HeaderMap};

use super::chat::ChatDecoder;
use super::responses::ResponsesDecoder;
use super::{chat_request, responses_request};
use crate::http::{ApiKey, BaseUrl, HttpClient, Refusal, secret_header};

const DEFAULT_BASE_URL: &str = "https://api.openai.com/v1";

/// The models of `OpenAI`, and of servers that speak its API.
///
/// `OpenAI` itself is reached through its **Responses API**, because its reasoning models refuse tools in Chat
/// Completions. Nothing is stored there: every request carries the conversation. [`compatible`](Self::compatible)
/// servers are reached through **Chat Completions**, which all of them have.
/// A server that `OPENAI_BASE_URL` names is asked by the Responses API first; when it has none, it is asked by Chat
/// Completions from then on. [`with_responses`](Self::with_responses) and [`with_chat_completions`](Self::with_chat_completions) choose
/// otherwise.
///
/// Requests go to `<base URL>/responses` or `<base URL>/chat/completions`; nothing is added to the base URL, so it
/// usually ends with `/v1`.
#[derive(Clone, Debug)]
pub struct OpenAI {
    http: HttpClient,
    base: BaseUrl,
    key: ApiKey,
    api: Api,
    organization: Option<String>,
    project: Option<String>,
}

#[derive(Clone, Debug)]
enum Api {
    Responses,
    ChatCompletions,
    /// The Responses API, until the server turns out to have only Chat Completions, which is remembered.
    Either(Arc<AtomicBool>),
}

impl OpenAI {
    /// Reads `OPENAI_API_KEY` and, where they are set, `OPENAI_BASE_URL`, `OPENAI_ORG_ID` and `OPENAI_PROJECT_ID`.
    /// The proxies that the environment names are used. No other constructor reads the environment.
    ///
    /// # Errors
    /// [`ModelErrorKind::Configuration`] when the key is missing or one of the values is malformed.
    pub fn from_env() -> Result<Self, ModelError> {
        Self::from_variables(|name| env::var(name).ok())
    }

    /// `OpenAI` with this key.
    ///
    /// # Errors
    /// [`ModelErrorKind::Configuration`] when the key can be none.
    pub fn new(key: impl AsRef<str>) -> Result<Self, ModelError> {
        Self::build(DEFAULT_BASE_URL, key.as_ref(), Api::Responses, false)
    }

    /// A server that speaks `OpenAI`'s Chat Completions, such as a local one. Servers that need no key take any text.
    ///
    /// # Errors
    /// [`ModelErrorKind::Configuration`] when the URL or the key is malformed.
    pub fn compatible(base_url: impl AsRef<str>, key: impl AsRef<str>) -> Result<Self, ModelError> {
        Self::build(base_url.as_ref(), key.as_ref(), Api::ChatCompletions, false)
    }

    /// Uses the Responses API.
    #[must_use]
    pub fn with_responses(mut self) -> Self {
        self.api = Api::Responses;
        self
    }

    /// Uses Chat Completions.
    #[must_use]
    pub fn with_chat_completions(mut self) -> Self {
        self.api = Api::ChatCompletions;
        self
    }

    fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Result<Self, ModelError> {
        let set = |name: &str| variable(name).filter(|value| !value.trim().is_empty());
        let Some(key) = set("OPENAI_API_KEY") else {
            let message =
                "no key for OpenAI: set OPENAI_API_KEY, and OPENAI_BASE_URL for another server";
            return Err(ModelError::new(ModelErrorKind::Configuration, message));
        };
        let mut provider = match set("OPENAI_BASE_URL") {
            Some(base) => Self::build(&base, &key, Api::Either(Arc::default()), true)?,
            None => Self::build(DEFAULT_BASE_URL, &key, Api::Responses, true)?,
        };
        provider.organization = set("OPENAI_ORG_ID");
        provider.project = set("OPENAI_PROJECT_ID");
        provider.headers()?;
        Ok(provider)
    }

    fn build(base: &str, key: &str, api: Api, proxies: bool) -> Result<Self, ModelError> {
        let base = BaseUrl::parse(base)?;
        Ok(Self {
            http: HttpClient::new("OpenAI", &base, proxies)?,
            base,
            key: ApiKey::parse(key)?,
            api,
            organization: None,
            project: None,
        })
    }

    async fn responses(&self, request: &ModelRequest) -> Result<ModelStream, Refusal> {
        let (url, headers) = (self.base.join("responses"), self.headers()?);
        let body = responses_request::body(request);
        let decoder = ResponsesDecoder::default();
        self.http
            .stream(url, headers, &body, decoder, &self.key)
            .await
    }

    async fn chat(&self, request: &ModelRequest) -> Result<ModelStream, Refusal> {
        let (url, headers) = (self.base.join("chat/completions"), self.headers()?);
        let body = chat_request::body(request);
        let decoder = ChatDecoder::default();
        self.http
            .stream(url, headers, &body, decoder, &self.key)
            .await
    }

    fn headers(&self) -> Result<HeaderMap, ModelError> {
        let bearer = format!("Bearer {}", self.key.expose());
        let mut headers = HeaderMap::from_iter([secret_header(AUTHORIZATION.as_str(), &bearer)?]);
        if let Some(organization) = &self.organization {
            headers.extend([secret_header("openai-organization", organization.trim())?]);
        }
        if let Some(project) = &self.project {
            headers.extend([secret_header("openai-project", project.trim())?]);
        }
        Ok(headers)
    }
}

#[async_trait]
impl ModelProvider for OpenAI {
    fn name(&self) -> &'static str {
        "openai"
    }

    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, ModelError> {
        let answer = match &self.api {
            Api::Responses => self.responses(&request).await,
            Api::ChatCompletions => self.chat(&request).await,
            Api::Either(only_chat) if only_chat.load(Ordering::Relaxed) => {
                self.chat(&request).await
            }
            Api::Either(only_chat) => match self.responses(&request).await {
                Err(refusal) if refusal.no_such_path => {
                    let answer = self.chat(&request).await;
                    only_chat.fetch_or(answer.is_ok(), Ordering::Relaxed);
                    answer
                }
                answer => answer,
            },
        };
        answer.map_err(|refusal| refusal.error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_key_names_the_variable_to_set() {
        for empty in [None, Some("  ".to_owned())] {
            let error = OpenAI::from_variables(|_| empty.clone()).unwrap_err();
            assert_eq!(error.kind, ModelErrorKind::Configuration);
            assert!(error.to_string().contains("OPENAI_API_KEY"), "{error}");
        }
    }

    #[test]
    fn the_environment_is_read_and_empty_variables_are_unset() {
        let provider = OpenAI::from_variables(|name| match name {
            "OPENAI_API_KEY" => Some("sk-1".into()),
            "OPENAI_ORG_ID" => Some("org-1".into()),
            "OPENAI_BASE_URL" | "OPENAI_PROJECT_ID" => Some(String::new()),
            _ => panic!("reads {name}"),
        });
        let provider = provider.unwrap();
        assert_eq!(
            provider.base.join("x").as_str(),
            "https://api.openai.com/v1/x"
        );
        let headers = provider.headers().unwrap();
        assert_eq!(headers["openai-organization"], "org-1");
        assert!(!headers.contains_key("openai-project"));
    }

    #[test]
    fn malformed_values_are_refused_at_once() {
        let with = |name: &'static str, value: &'static str| {
            OpenAI::from_variables(move |asked| match asked {
                asked if asked == name => Some(value.into()),
                "OPENAI_API_KEY" => Some("sk-1".into()),
                _ => None,
            })
        };
        for (name, value) in [
            ("OPENAI_BASE_URL", "localhost"),
            ("OPENAI_ORG_ID", "a\nb"),
            ("OPENAI_API_KEY", "a b"),
        ] {
            assert_eq!(
                with(name, value).unwrap_err().kind,
                ModelErrorKind::Configuration,
                "{name}"
            );
        }
    }

    /// A provider of the environment, asked twice: its server answers one path with `status` and knows no other.
    async fn asked_twice(path: &'static str, status: u16) -> Vec<String> {
        use std::sync::Mutex;

        let log: Arc<Mutex<Vec<String>>> = Arc::default();
        let seen = Arc::clone(&log);
        let router = axum::Router::new().fallback(move |request: axum::extract::Request| {
            let asked = request.uri().path().to_owned();
            let status = if asked == path { status } else { 404 };
            seen.lock().unwrap().push(asked);
            async move {
                let status = axum::http::StatusCode::from_u16(status).unwrap();
                (
                    status,
                    [("content-type", "text/event-stream")],
                    "data: [DONE]\n\n",
                )
            }
        });
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}/v1", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        let provider = OpenAI::from_variables(move |name| match name {
            "OPENAI_API_KEY" => Some("k".into()),
            "OPENAI_BASE_URL" => Some(base.clone()),
            _ => None,
        });
        let provider = provider.unwrap();
        for _ in 0..2 {
            let request = ModelRequest {
                model: "m".into(),
                instructions: String::new(),
                messages: everruns_core::model::Messages::new(),
                tools: Vec::new().into(),
            };
            let answer = provider.stream(request).await;
            assert_eq!(answer.is_ok(), status == 200);
        }
        log.lock()
            .unwrap()
            .iter()
            .map(|path| path.replace("/v1/", ""))
            .collect()
    }

    #[tokio::test]
    async fn a_server_of_the_environment_is_asked_by_the_api_that_it_has() {
        let (responses, chat) = ("/v1/responses", "/v1/chat/completions");
        assert_eq!(
            asked_twice(responses, 200).await,
            ["responses", "responses"]
        );
        assert_eq!(
            asked_twice(chat, 200).await,
            ["responses", "chat/completions", "chat/completions"]
        );
        // A refusal does not prove that the path is right, so it is not remembered.
        let both = [
            "responses",
            "chat/completions",
            "responses",
            "chat/completions",
        ];
        assert_eq!(asked_twice(chat, 401).await, both);
        assert_eq!(
            asked_twice(responses, 401).await,
            ["responses", "responses"]
        );
    }

    #[test]
    fn debug_hides_the_key() {
        let provider = OpenAI::new("sk-very-secret").unwrap();
        let shown = format!("{provider:?} {:?}", provider.headers().unwrap());
        assert!(!shown.contains("very-secret"), "{shown}");
    }
}
