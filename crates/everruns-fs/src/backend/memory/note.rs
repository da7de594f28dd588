//! What is said of commits, checked as Git checks it.

use everruns_core::workspace::{CommitIdentity, WorkspaceError};

/// A message without blank lines around it, doubled ones in it, and spaces at the ends of lines.
pub(super) fn clean(text: &str) -> Result<String, WorkspaceError> {
    if text.contains('\0') {
        let reason = "it holds a NUL byte";
        return Err(WorkspaceError::InvalidMessage { reason });
    }
    let mut message = String::with_capacity(text.len() + 1);
    let lines: Vec<&str> = text.lines().map(str::trim_ascii_end).collect();
    for paragraph in lines.split(|line| line.is_empty()) {
        if !paragraph.is_empty() && !message.is_empty() {
            message.push('\n');
        }
        for line in paragraph {
            message.push_str(line);
            message.push('\n');
        }
    }
    if message.is_empty() {
        let reason = "it is empty";
        return Err(WorkspaceError::InvalidMessage { reason });
    }
    Ok(message)
}

/// Who was named, if anybody was; nobody is configured for files in memory.
pub(super) fn author(
    named: Option<&CommitIdentity>,
) -> Result<Option<CommitIdentity>, WorkspaceError> {
    let Some(named) = named else { return Ok(None) };
    let parts = [
        ("the author's name", &named.name),
        ("the author's email", &named.email),
    ];
    // As in Git, what is only punctuation names nobody.
    let is_something = |text: &str| text.chars().any(|c| c > ' ' && !".,:;<>\"\\'".contains(c));
    let missing: Vec<&str> = parts
        .into_iter()
        .filter(|(_, text)| !is_something(text))
        .map(|(what, _)| what)
        .collect();
    if missing.is_empty() {
        return Ok(Some(named.clone()));
    }
    Err(WorkspaceError::IdentityMissing {
        missing: missing.join(" and "),
    })
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

    #[test]
    fn nobody_is_made_up() {
        assert_eq!(author(None).unwrap(), None);
        let named = CommitIdentity::new("A", "a@example.org");
        assert_eq!(author(Some(&named)).unwrap(), Some(named));
        let failure = author(Some(&CommitIdentity::new("A", " <> "))).unwrap_err();
        assert!(
            failure.to_string().contains("the author's email"),
            "{failure}"
        );
    }
}
