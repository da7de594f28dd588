//! Printing: text for people, JSON for scripts.

use std::io::{ErrorKind, Write as _};

use serde::Serialize;

use crate::failure::Failure;

/// Where results go. Progress and errors go to standard error instead.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Output {
    pub(crate) json: bool,
}

impl Output {
    /// Prints `value` as JSON, or else what `text` says.
    pub(crate) fn show<T: Serialize>(
        self,
        value: &T,
        text: impl FnOnce() -> String,
    ) -> Result<(), Failure> {
        if self.json {
            let json = serde_json::to_string_pretty(value).map_err(|error| {
                Failure::new(format!("the result cannot be shown as JSON: {error}"))
            })?;
            line(&json)
        } else {
            line(&text())
        }
    }
}

/// Prints one line, or several, on standard output. A reader that has seen enough is no reason to fail.
pub(crate) fn line(text: &str) -> Result<(), Failure> {
    line_to_reader(text).map(drop)
}

/// As [`line()`]; `false` when nobody reads any more, so that a long output can end.
pub(crate) fn line_to_reader(text: &str) -> Result<bool, Failure> {
    let mut out = anstream::stdout().lock();
    let text = text.trim_end_matches('\n');
    match writeln!(out, "{text}").and_then(|()| out.flush()) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(Failure::new(format!(
            "standard output cannot be written: {error}"
        ))),
    }
}

/// Prints one line on standard error, where progress goes. A closed standard error is no reason to stop.
pub(crate) fn note(text: &str) {
    drop(writeln!(anstream::stderr().lock(), "{text}"));
}

/// `text` with control characters and direction overrides escaped, so that a name cannot draw on the terminal.
pub(crate) fn shown(text: &str) -> String {
    escaped(text, |c| draws(c) || matches!(c, '\u{200c}' | '\u{200d}'))
}

/// Whether a character moves the cursor, turns the direction of text or is not seen at all.
fn draws(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200b}' | '\u{200e}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

fn escaped(text: &str, draws: impl Fn(char) -> bool) -> String {
    text.chars()
        .flat_map(|c| {
            let escaped: Vec<char> = if !draws(c) {
                vec![c]
            } else if matches!(c, '\n' | '\r' | '\t') {
                c.escape_debug().collect()
            } else {
                c.escape_unicode().collect()
            };
            escaped
        })
        .collect()
}

/// Like [`shown`], but keeps line breaks and tabs: for text of several lines.
pub(crate) fn shown_lines(text: &str) -> String {
    text.split('\n')
        .map(|line| line.split('\t').map(shown).collect::<Vec<_>>().join("\t"))
        .collect::<Vec<_>>()
        .join("\n")
}

/// Like [`shown_lines`], but keeps the joiners that some scripts and emoji need: for what people and models say.
pub(crate) fn said(text: &str) -> String {
    escaped(text, |c| draws(c) && c != '\n' && c != '\t')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_keeps_the_joiners_that_scripts_and_emoji_need() {
        let joined = "\u{1f469}\u{200d}\u{1f4bb} na\u{200c}me";
        assert_eq!(said(joined), joined);
        assert_eq!(said("a\u{202e}\n\tb\u{1b}[2J"), "a\\u{202e}\n\tb\\u{1b}[2J");
    }

    #[test]
    fn h41_names_cannot_draw_on_the_terminal() {
        assert_eq!(shown("a\u{1b}[31m\n\u{202e}b"), "a\\u{1b}[31m\\n\\u{202e}b");
        assert_eq!(shown_lines("a\tb\n\u{7}"), "a\tb\n\\u{7}");
    }
}
