//! What a turn does, as it happens, on standard error.

use std::io::{IsTerminal as _, Write as _};
use std::time::Duration;

use everruns::SessionUpdate;
use everruns::session::{EventPayload, ToolOutcome};
use futures::{Stream, StreamExt as _};
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::Value;

use crate::output::{note, shown, shown_lines};

/// The longest argument that is shown of a tool call, in characters.
const ARGUMENT_LENGTH: usize = 60;

/// Shows updates until they end. Text is streamed; a spinner turns while nothing is said, on a terminal only.
pub(crate) async fn show(mut updates: impl Stream<Item = SessionUpdate> + Unpin) {
    let mut screen = Screen::new();
    while let Some(update) = updates.next().await {
        if screen.show(update) {
            return;
        }
    }
    screen.pause();
}

struct Screen {
    spinner: Option<ProgressBar>,
    mid_line: bool,
}

impl Screen {
    fn new() -> Self {
        let spinner = std::io::stderr().is_terminal().then(|| {
            let style = ProgressStyle::with_template("{spinner} {msg}")
                .unwrap_or_else(|_| ProgressStyle::default_spinner());
            let bar = ProgressBar::new_spinner()
                .with_style(style)
                .with_message("thinking");
            bar.enable_steady_tick(Duration::from_millis(120));
            bar
        });
        Self {
            spinner,
            mid_line: false,
        }
    }

    /// Shows one update; `true` when it was the turn's last.
    fn show(&mut self, update: SessionUpdate) -> bool {
        match update {
            SessionUpdate::TextDelta { text, .. } => self.text(&text),
            SessionUpdate::ToolStarted { call, .. } => {
                self.say(&format!(
                    "→ {} {}",
                    shown(&call.name),
                    arguments(&call.arguments)
                ));
            }
            SessionUpdate::ToolEnded { tool, outcome, .. } if outcome != ToolOutcome::Succeeded => {
                self.say(&format!("  {} {}", shown(&tool), outcome_text(outcome)));
            }
            SessionUpdate::Retrying { reason, wait, .. } => {
                self.say(&format!(
                    "{}; trying again in {:.1} s",
                    shown(&reason),
                    wait.as_secs_f64()
                ));
            }
            SessionUpdate::Event(event) => match event.payload {
                EventPayload::TurnEnded { .. } => {
                    self.pause();
                    return true;
                }
                EventPayload::AssistantMessage { .. } => self.end_line(),
                _ => {}
            },
            _ => {}
        }
        false
    }

    fn text(&mut self, text: &str) {
        self.hide();
        drop(write!(anstream::stderr().lock(), "{}", shown_lines(text)));
        self.mid_line = !text.ends_with('\n');
    }

    fn say(&mut self, line: &str) {
        self.hide();
        self.end_line();
        note(line);
        if let Some(spinner) = &self.spinner {
            spinner.reset();
            spinner.enable_steady_tick(Duration::from_millis(120));
        }
    }

    fn hide(&self) {
        if let Some(spinner) = &self.spinner {
            spinner.disable_steady_tick();
            spinner.finish_and_clear();
        }
    }

    fn end_line(&mut self) {
        if std::mem::take(&mut self.mid_line) {
            note("");
        }
    }

    fn pause(&mut self) {
        self.hide();
        self.end_line();
    }
}

fn outcome_text(outcome: ToolOutcome) -> &'static str {
    match outcome {
        ToolOutcome::Failed => "did not do it; the model is told why",
        ToolOutcome::Cancelled => "was cancelled",
        _ => "has an unknown outcome",
    }
}

/// The arguments of a tool call, each cut to what a line can hold.
fn arguments(value: &Value) -> String {
    let Value::Object(map) = value else {
        return shortened(&value.to_string());
    };
    map.iter()
        .map(|(key, value)| match value {
            Value::String(text) => format!("{}={}", shown(key), shortened(text)),
            other => format!("{}={}", shown(key), shortened(&other.to_string())),
        })
        .collect::<Vec<_>>()
        .join(" ")
}

fn shortened(text: &str) -> String {
    let mut characters = text.chars();
    let start: String = characters.by_ref().take(ARGUMENT_LENGTH).collect();
    let left = characters.count();
    if left == 0 {
        shown(&start)
    } else {
        format!("{}… (+{left})", shown(&start))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn arguments_fit_on_a_line_and_cannot_draw() {
        assert_eq!(arguments(&json!({"path": "a\u{1b}b"})), "path=a\\u{1b}b");
        let long = arguments(&json!({"content": "x".repeat(100)}));
        assert!(long.ends_with("… (+40)"), "{long}");
    }
}
