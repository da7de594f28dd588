//! A sign of life on a terminal while nothing is said.
//!
//! The cursor stays right behind it, so that what the terminal itself writes there, such as `^C`, is wiped with it.

use std::io::Write as _;
use std::time::Duration;

/// How long each of its pictures is seen.
pub(super) const TURN: Duration = Duration::from_millis(120);

const PICTURES: [char; 8] = ['⠋', '⠙', '⠸', '⢰', '⣠', '⣄', '⡆', '⠇'];

/// The spinner, shown or not.
#[derive(Debug, Default)]
pub(super) struct Spinner {
    turns: usize,
    shown: bool,
}

impl Spinner {
    /// Shows its next picture.
    pub(super) fn turn(&mut self) {
        let picture = PICTURES[self.turns % PICTURES.len()];
        self.turns = self.turns.wrapping_add(1);
        self.shown = true;
        clear_line();
        put(&format!("{picture} thinking"));
    }

    /// Takes it off the screen.
    pub(super) fn hide(&mut self) {
        if std::mem::take(&mut self.shown) {
            clear_line();
        }
    }
}

/// Empties the cursor's line and puts the cursor at its beginning.
pub(super) fn clear_line() {
    put("\r\u{1b}[2K");
}

/// Writes as it is. A terminal that is gone needs no sign of life.
fn put(text: &str) {
    let mut terminal = std::io::stderr().lock();
    drop(
        terminal
            .write_all(text.as_bytes())
            .and_then(|()| terminal.flush()),
    );
}
