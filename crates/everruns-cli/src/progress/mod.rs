//! What a turn does, as it happens, on standard error.

mod spinner;

use std::io::{IsTerminal as _, Write as _};

use everruns::SessionUpdate;
use everruns::session::{EventPayload, ToolOutcome};
use futures::{Stream, StreamExt as _};
use serde_json::Value;

use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::task::JoinHandle;
use tokio::time::MissedTickBehavior;

use crate::output::{note, said, shown};
use spinner::Spinner;

/// The longest argument that is shown of a tool call, in characters.
const ARGUMENT_LENGTH: usize = 60;

/// The showing of one turn.
pub(crate) struct Progress {
    task: JoinHandle<()>,
    notices: UnboundedSender<String>,
}

impl Progress {
    /// Shows updates until the turn ends. Text is streamed; a spinner turns while nothing is said, on a terminal only.
    pub(crate) fn start(
        updates: impl Stream<Item = SessionUpdate> + Send + Unpin + 'static,
    ) -> Self {
        let (notices, told) = mpsc::unbounded_channel();
        Self {
            task: tokio::spawn(show(updates, told)),
            notices,
        }
    }

    /// Where others say something between what the turn says.
    pub(crate) fn notices(&self) -> UnboundedSender<String> {
        self.notices.clone()
    }

    /// Waits until all is shown. A turn that broke off has no last update to wait for.
    pub(crate) async fn finish(self, ended: bool) {
        if !ended {
            self.task.abort();
        }
        // Its only errors are that it was aborted, just above, and that showing failed, which changes no result.
        drop(self.task.await);
    }
}

/// Takes the spinner off the screen when the program leaves in the middle.
pub(crate) fn reset_terminal() {
    if std::io::stderr().is_terminal() {
        spinner::clear_line();
    }
}

async fn show(
    mut updates: impl Stream<Item = SessionUpdate> + Unpin,
    mut notices: UnboundedReceiver<String>,
) {
    let mut screen = Screen::new();
    let mut ticks = tokio::time::interval(spinner::TURN);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            update = updates.next() => {
                if update.is_none_or(|update| screen.show(update)) {
                    return;
                }
            }
            Some(notice) = notices.recv() => screen.say(&notice),
            _ = ticks.tick(), if screen.spinner.is_some() => screen.tick(),
        }
    }
}

struct Screen {
    spinner: Option<Spinner>,
    mid_line: bool,
}

impl Screen {
    fn new() -> Self {
        let dumb = std::env::var_os("TERM").is_none_or(|terminal| terminal == "dumb");
        Self {
            spinner: (std::io::stderr().is_terminal() && !dumb).then(Spinner::default),
            mid_line: false,
        }
    }

    /// Turns the spinner where nothing else is on the line.
    fn tick(&mut self) {
        if let Some(spinner) = &mut self.spinner
            && !self.mid_line
        {
            spinner.turn();
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
        if text.is_empty() {
            return;
        }
        self.hide();
        drop(write!(anstream::stderr().lock(), "{}", said(text)));
        self.mid_line = !text.ends_with('\n');
    }

    fn say(&mut self, line: &str) {
        self.hide();
        self.end_line();
        note(line);
    }

    fn hide(&mut self) {
        if let Some(spinner) = &mut self.spinner {
            spinner.hide();
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

impl Drop for Screen {
    fn drop(&mut self) {
        self.pause();
    }
}

fn outcome_text(outcome: ToolOutcome) -> &'static str {
    match outcome {
        ToolOutcome::Failed => "did not do it; the model is told why",
        ToolOutcome::Cancelled => "was cancelled",
        _ => "has an unknown outcome",
    }
}

/// The arguments of a tool call, paths first, each cut to what a line can hold.
pub(crate) fn arguments(value: &Value) -> String {
    let Value::Object(map) = value else {
        return shortened(&value.to_string());
    };
    let mut texts: Vec<(&String, String)> = map
        .iter()
        .map(|(key, value)| match value {
            Value::String(text) => (key, text.clone()),
            other => (key, other.to_string()),
        })
        .collect();
    // Where something goes says more than what goes there.
    let is_place = |key: &str| matches!(key, "path" | "from" | "to" | "pattern");
    texts.sort_by_key(|(key, text)| (!is_place(key), text.len()));
    texts
        .iter()
        .map(|(key, text)| format!("{}={}", shown(key), shortened(text)))
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
        let long = arguments(&json!({"content": "x".repeat(100), "path": "a"}));
        assert!(long.starts_with("path=a content=x"), "{long}");
        assert!(long.ends_with("… (+40)"), "{long}");
    }
}
