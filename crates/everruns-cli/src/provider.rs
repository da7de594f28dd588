//! Which model to ask, and through whom.

use std::sync::Arc;

use everruns::model::ModelProvider;
use everruns::{Anthropic, OpenAI};

use crate::args::{ModelArgs, ProviderChoice};
use crate::failure::Failure;

const KEYS: &str =
    "set OPENAI_API_KEY (with OPENAI_BASE_URL for a compatible endpoint) or ANTHROPIC_API_KEY";

/// A model and who serves it.
pub(crate) struct Chosen {
    pub(crate) provider: Arc<dyn ModelProvider>,
    pub(crate) model: String,
}

/// Chooses by the arguments, then by what a session used before, then by the keys in the environment.
pub(crate) fn choose(args: ModelArgs, before: Option<(&str, &str)>) -> Result<Chosen, Failure> {
    let model = args
        .model
        .or_else(|| before.map(|(_, model)| model.to_owned()));
    let choice = args
        .provider
        .or_else(|| before.and_then(|(provider, _)| by_name(provider)))
        .or_else(by_key);
    let (Some(model), Some(choice)) = (model.filter(|model| !model.is_empty()), choice) else {
        return Err(missing(choice.is_none()));
    };
    let provider: Arc<dyn ModelProvider> = match choice {
        ProviderChoice::Openai => {
            Arc::new(OpenAI::from_env().map_err(|error| Failure::of(&error).hint(KEYS))?)
        }
        ProviderChoice::Anthropic => {
            Arc::new(Anthropic::from_env().map_err(|error| Failure::of(&error).hint(KEYS))?)
        }
    };
    Ok(Chosen { provider, model })
}

fn missing(no_key: bool) -> Failure {
    let failure = Failure::new("no model is configured, so nothing was started");
    let failure = if no_key { failure.hint(KEYS) } else { failure };
    failure
        .hint("name the model with `--model MODEL` or EVERRUNS_MODEL")
        .hint("`everruns demo` shows the product without a model")
}

fn by_name(provider: &str) -> Option<ProviderChoice> {
    match provider {
        "openai" => Some(ProviderChoice::Openai),
        "anthropic" => Some(ProviderChoice::Anthropic),
        _ => None,
    }
}

fn by_key() -> Option<ProviderChoice> {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    if set("OPENAI_API_KEY") {
        Some(ProviderChoice::Openai)
    } else if set("ANTHROPIC_API_KEY") {
        Some(ProviderChoice::Anthropic)
    } else {
        None
    }
}
