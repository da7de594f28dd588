//! Asking before something that cannot be taken back easily.

use std::io::{IsTerminal as _, Write as _};

use crate::blocking::blocking;
use crate::failure::Failure;
use crate::output::note;

/// Goes on when the user has said yes: with `--yes`, or now, where there is a terminal to ask on. `what` is said before
/// the question.
pub(crate) async fn confirm(yes: bool, what: &str, question: &str) -> Result<(), Failure> {
    if yes {
        return Ok(());
    }
    if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
        return Err(
            Failure::new("this has to be confirmed; nothing was changed")
                .hint("`--yes` confirms it"),
        );
    }
    note(what.trim_end());
    drop(write!(anstream::stderr().lock(), "{question} [y/N] "));
    let answer = blocking(|| {
        let mut answer = String::new();
        let read = std::io::stdin().read_line(&mut answer);
        read.map_err(|error| Failure::new(format!("the answer cannot be read: {error}")))?;
        Ok(answer)
    })
    .await?;
    if matches!(answer.trim().to_lowercase().as_str(), "y" | "yes") {
        Ok(())
    } else {
        Err(Failure::new("not confirmed; nothing was changed"))
    }
}
