//! A conversation as the providers write it into their requests.

use everruns::model::{ModelProvider, ModelRequest};
use everruns::{Anthropic, OpenAI};
use everruns_acceptance::openai_server::ScriptedOpenAi;
use serde_json::Value;

use super::rules;

/// The three interfaces, with a server behind them that keeps what it is asked and refuses it.
pub(super) struct Interfaces {
    server: ScriptedOpenAi,
    chat: OpenAI,
    responses: OpenAI,
    messages: Anthropic,
}

impl Interfaces {
    pub(super) async fn start() -> Self {
        let (server, url) = ScriptedOpenAi::start(Vec::new()).await.unwrap();
        let openai = || OpenAI::compatible(&url, "key").unwrap();
        Self {
            server,
            chat: openai().with_chat_completions(),
            responses: openai().with_responses(),
            messages: Anthropic::compatible(&url, "key").unwrap(),
        }
    }

    /// Panics unless `request` keeps every rule of each interface.
    pub(super) async fn assert_accept(&self, phase: &str, request: ModelRequest) {
        let chat = self.written(&self.chat, &request).await;
        rules::chat(&chat["messages"]).unwrap_or_else(|rule| panic!("{phase}: {rule}: {chat:#}"));
        let responses = self.written(&self.responses, &request).await;
        rules::responses(&responses["input"])
            .unwrap_or_else(|rule| panic!("{phase}: {rule}: {responses:#}"));
        let messages = self.written(&self.messages, &request).await;
        rules::messages(&messages["messages"])
            .unwrap_or_else(|rule| panic!("{phase}: {rule}: {messages:#}"));
    }

    async fn written(&self, provider: &dyn ModelProvider, request: &ModelRequest) -> Value {
        let before = self.server.requests().len();
        let answer = provider.stream(request.clone()).await;
        assert!(answer.is_err(), "the server refuses everything");
        let mut seen = self.server.requests();
        assert_eq!(seen.len(), before + 1);
        seen.pop().unwrap().body
    }
}
