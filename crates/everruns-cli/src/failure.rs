//! Errors as a person reads them: what is wrong, why, and what to do next.

use std::error::Error;
use std::fmt;

use crate::output::shown_lines;

/// An error for the terminal.
#[derive(Debug)]
pub(crate) struct Failure {
    message: String,
    causes: Vec<String>,
    hints: Vec<String>,
}

impl Failure {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            causes: Vec::new(),
            hints: Vec::new(),
        }
    }

    /// An error with its causes, each once.
    pub(crate) fn of(error: &(dyn Error + 'static)) -> Self {
        let mut failure = Self::new(error.to_string());
        let mut said = failure.message.clone();
        let mut next = error.source();
        while let Some(cause) = next {
            let text = cause.to_string();
            if !said.contains(&text) {
                said.push_str(&text);
                failure.causes.push(text);
            }
            next = cause.source();
        }
        failure
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    pub(crate) fn to_json(&self) -> serde_json::Value {
        serde_json::json!({"error": self.message, "causes": self.causes, "hints": self.hints})
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Paths, names and answers of servers come from outside: they draw nothing and begin no line of their own.
        let within = |text: &str| shown_lines(text).replace('\n', "\n    ");
        write!(f, "{}", within(&self.message))?;
        for cause in &self.causes {
            write!(f, "\n  because {}", within(cause))?;
        }
        for hint in &self.hints {
            write!(f, "\n  hint: {}", within(hint))?;
        }
        Ok(())
    }
}
