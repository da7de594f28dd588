//! Messages of commits, as `git commit -m` takes them.

use crate::error::{GitError, Result};

/// `text` as Git keeps it: no blank lines around it and only single ones in it, no spaces at the ends of lines, a
/// line feed at its end.
pub(crate) fn clean(text: &str) -> Result<String> {
    let refuse = |reason| Err(GitError::InvalidMessage { reason });
    if text.contains('\0') {
        return refuse("it holds a NUL byte");
    }
    let mut message = String::with_capacity(text.len() + 1);
    let mut blank = false;
    for line in text.split('\n') {
        let line = line.trim_end_matches(|c: char| c.is_ascii_whitespace() || c == '\u{b}');
        if line.is_empty() {
            blank = !message.is_empty();
            continue;
        }
        if std::mem::take(&mut blank) {
            message.push('\n');
        }
        message.push_str(line);
        message.push('\n');
    }
    if message.is_empty() {
        return refuse("it is empty");
    }
    Ok(message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn space_that_says_nothing_goes() {
        let text = "\n \nsubject  \r\n\n\n\nbody\n# kept\n\n";
        assert_eq!(clean(text).unwrap(), "subject\n\nbody\n# kept\n");
        assert_eq!(clean("one").unwrap(), "one\n");
        for empty in ["", " \n\t\n", "a\0b"] {
            assert!(clean(empty).is_err(), "{empty:?}");
        }
    }
}
