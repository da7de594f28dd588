//! Printing: text for people, JSON for scripts.

use std::io::Write as _;

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

/// Prints one line, or several, on standard output.
pub(crate) fn line(text: &str) -> Result<(), Failure> {
    let mut out = anstream::stdout().lock();
    let text = text.trim_end_matches('\n');
    writeln!(out, "{text}")
        .and_then(|()| out.flush())
        .map_err(|error| Failure::new(format!("standard output cannot be written: {error}")))
}

/// Prints one line on standard error, where progress goes. A closed standard error is no reason to stop.
pub(crate) fn note(text: &str) {
    drop(writeln!(anstream::stderr().lock(), "{text}"));
}

/// `text` with control characters and direction overrides escaped, so that a name cannot draw on the terminal.
pub(crate) fn shown(text: &str) -> String {
    let draws = |c: char| {
        c.is_control()
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
    };
    text.chars()
        .flat_map(|c| {
            let escaped: Vec<char> = if draws(c) {
                c.escape_unicode().collect()
            } else {
                vec![c]
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn h41_names_cannot_draw_on_the_terminal() {
        assert_eq!(
            shown("a\u{1b}[31m\n\u{202e}b"),
            "a\\u{1b}[31m\\u{a}\\u{202e}b"
        );
        assert_eq!(shown_lines("a\tb\n\u{7}"), "a\tb\n\\u{7}");
    }
}
