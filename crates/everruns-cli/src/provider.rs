//! Which model to ask, and through whom.

use std::sync::Arc;

use everruns::model::{ModelError, ModelProvider};
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
pub(crate) fn choose(args: &ModelArgs, before: Option<(&str, &str)>) -> Result<Chosen, Failure> {
    let model = args
        .model
        .clone()
        .or_else(|| before.map(|(_, model)| model.to_owned()));
    let choice = args
        .provider
        .or_else(|| before.and_then(|(provider, _)| by_name(provider)))
        .or_else(by_key);
    let model = model.filter(|model| !model.is_empty());
    let named = model.is_some();
    let (Some(model), Some(choice)) = (model, choice) else {
        return Err(missing(named, choice.is_some()));
    };
    let provider: Arc<dyn ModelProvider> = match choice {
        ProviderChoice::Openai => {
            Arc::new(OpenAI::from_env().map_err(|error| unusable(&error, "OPENAI_BASE_URL"))?)
        }
        ProviderChoice::Anthropic => {
            Arc::new(Anthropic::from_env().map_err(|error| unusable(&error, "ANTHROPIC_BASE_URL"))?)
        }
    };
    Ok(Chosen { provider, model })
}

/// A setting that cannot be used; the address is the one that is easily mistyped.
fn unusable(error: &ModelError, address: &str) -> Failure {
    let failure = Failure::of(error);
    if is_set(address) {
        failure.hint(format!(
            "{address} is set; an address looks like http://127.0.0.1:8080/v1"
        ))
    } else {
        failure
    }
}

fn missing(named: bool, key: bool) -> Failure {
    let missing = match (named, key) {
        (true, _) => "no key for a model provider is set",
        (false, true) => "no model is named",
        (false, false) => "no model is named, and no key for a model provider is set",
    };
    let mut failure = Failure::new(format!("{missing}; nothing was started"));
    if !key {
        failure = failure.hint(KEYS);
    }
    if !named {
        failure = failure.hint("name the model with `--model MODEL` or EVERRUNS_MODEL");
    }
    failure.hint("`everruns demo` shows the product without a model")
}

fn by_name(provider: &str) -> Option<ProviderChoice> {
    match provider {
        "openai" => Some(ProviderChoice::Openai),
        "anthropic" => Some(ProviderChoice::Anthropic),
        _ => None,
    }
}

fn by_key() -> Option<ProviderChoice> {
    if is_set("OPENAI_API_KEY") {
        Some(ProviderChoice::Openai)
    } else if is_set("ANTHROPIC_API_KEY") {
        Some(ProviderChoice::Anthropic)
    } else {
        None
    }
}

fn is_set(name: &str) -> bool {
    std::env::var_os(name).is_some_and(|value| !value.is_empty())
}
