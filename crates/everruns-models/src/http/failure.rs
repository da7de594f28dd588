use std::time::Duration;

use everruns_core::model::{ModelError, ModelErrorKind};
use serde_json::Value;

use super::ApiKey;

/// No more of a provider's message is kept.
const LONGEST_MESSAGE: usize = 600;

/// What a provider says of a failure, in a status or inside a stream.
#[derive(Debug, Default)]
pub(crate) struct Failure {
    pub(crate) status: Option<u16>,
    pub(crate) code: String,
    pub(crate) message: String,
    pub(crate) retry_after: Option<Duration>,
}

/// An answer that is not understood.
pub(crate) fn protocol(problem: &str) -> ModelError {
    let message = format!("the provider's answer is not understood: {problem}");
    ModelError::new(ModelErrorKind::Protocol, message)
}

impl Failure {
    /// Reads the error object of a body or an event; both providers nest it under `error`, or give it as it is.
    pub(crate) fn from_json(value: &Value) -> Self {
        let error = value
            .get("error")
            .filter(|error| !error.is_null())
            .unwrap_or(value);
        let text = |name: &str| error.get(name).and_then(Value::as_str).unwrap_or_default();
        // `type` of an event is `error` itself and says nothing.
        let code = [text("code"), text("type")]
            .into_iter()
            .find(|code| !code.is_empty() && *code != "error");
        Self {
            code: code.unwrap_or_default().to_owned(),
            message: error.as_str().unwrap_or_else(|| text("message")).to_owned(),
            ..Self::default()
        }
    }

    /// The error for people, without the key.
    pub(crate) fn into_error(self, provider: &str, key: &ApiKey) -> ModelError {
        let kind = self.kind();
        let said = shorten(&key.redact(&self.message));
        let status = self
            .status
            .map(|status| format!(" ({status})"))
            .unwrap_or_default();
        let mut message = format!("{provider} {}{status}", outcome(kind));
        if !said.is_empty() {
            message.push_str(": ");
            message.push_str(&said);
        }
        if self.status == Some(404) {
            message
                .push_str("; check the model's name and the base URL, which usually ends with /v1");
        }
        let mut error = ModelError::new(kind, message);
        error.retry_after = self.retry_after;
        error
    }

    fn kind(&self) -> ModelErrorKind {
        if self.is_too_long() {
            return ModelErrorKind::ContextTooLong;
        }
        match self.code.as_str() {
            // Waiting does not help here, so it is not the same as a rate limit.
            "insufficient_quota" | "billing_error" => return ModelErrorKind::InvalidRequest,
            "rate_limit_exceeded" | "rate_limit_error" => return ModelErrorKind::RateLimited,
            "authentication_error" | "permission_error" | "invalid_api_key" => {
                return ModelErrorKind::Authentication;
            }
            "invalid_request_error" | "not_found_error" | "invalid_prompt"
                if self.status.is_none() =>
            {
                return ModelErrorKind::InvalidRequest;
            }
            _ => {}
        }
        match self.status {
            Some(401 | 403) => ModelErrorKind::Authentication,
            Some(429) => ModelErrorKind::RateLimited,
            Some(408 | 409 | 425) | None => ModelErrorKind::Unavailable,
            Some(status) if status >= 500 => ModelErrorKind::Unavailable,
            Some(_) => ModelErrorKind::InvalidRequest,
        }
    }

    /// `OpenAI` has a code for it; Anthropic and many compatible servers only say it in words.
    fn is_too_long(&self) -> bool {
        let words = [
            "prompt is too long",
            "maximum context length",
            "exceeds the context window",
        ];
        let refused = matches!(self.status, None | Some(400 | 413 | 422));
        matches!(
            self.code.as_str(),
            "context_length_exceeded" | "request_too_large"
        ) || refused && words.iter().any(|words| self.message.contains(words))
    }
}

fn outcome(kind: ModelErrorKind) -> &'static str {
    match kind {
        ModelErrorKind::Authentication => "does not accept the key",
        ModelErrorKind::RateLimited => "asks to send fewer requests",
        ModelErrorKind::Unavailable => "failed on its side",
        ModelErrorKind::ContextTooLong => "says that the conversation is too long for the model",
        _ => "refuses the request",
    }
}

fn shorten(text: &str) -> String {
    let text = text.trim();
    let mut short: String = text.chars().take(LONGEST_MESSAGE).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(status: Option<u16>, code: &str, message: &str) -> ModelErrorKind {
        let failure = Failure {
            status,
            code: code.into(),
            message: message.into(),
            retry_after: None,
        };
        failure.kind()
    }

    #[test]
    fn failures_have_the_kind_that_tells_whether_to_retry() {
        use ModelErrorKind as Kind;
        let rows = [
            (
                Some(400),
                "context_length_exceeded",
                "",
                Kind::ContextTooLong,
            ),
            (
                Some(400),
                "invalid_request_error",
                "prompt is too long: 2 > 1",
                Kind::ContextTooLong,
            ),
            (
                Some(400),
                "invalid_request_error",
                "no",
                Kind::InvalidRequest,
            ),
            (Some(429), "insufficient_quota", "", Kind::InvalidRequest),
            (Some(429), "rate_limit_exceeded", "", Kind::RateLimited),
            (Some(403), "", "", Kind::Authentication),
            (Some(404), "model_not_found", "", Kind::InvalidRequest),
            (Some(529), "overloaded_error", "", Kind::Unavailable),
            (None, "overloaded_error", "", Kind::Unavailable),
            (None, "server_error", "", Kind::Unavailable),
            (None, "invalid_request_error", "", Kind::InvalidRequest),
        ];
        for (status, code, message, expected) in rows {
            assert_eq!(kind(status, code, message), expected, "{status:?} {code}");
        }
    }
}
