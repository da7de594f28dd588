use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

/// Tokens used, as the provider counts them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens sent to the model, cached ones included.
    pub input_tokens: u64,
    /// Of these, tokens that the provider had cached.
    pub cached_input_tokens: u64,
    /// Tokens the model made, reasoning included.
    pub output_tokens: u64,
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input_tokens += other.input_tokens;
        self.cached_input_tokens += other.cached_input_tokens;
        self.output_tokens += other.output_tokens;
    }
}
