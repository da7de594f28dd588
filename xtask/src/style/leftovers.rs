//! Code that says that it is not finished.

use crate::files::TextFile;
use crate::rust_text::RustText;

/// Macros and attributes that no source may contain, tests included.
const LEFTOVERS: &[&str] = &[
    "todo!",
    "unimplemented!",
    "dbg!",
    "#[ignore]",
    "#[ignore =",
    "ignore)]",
];

/// The leftovers in the code of one file; strings and comments do not count.
pub(super) fn problems(file: &TextFile) -> Vec<String> {
    let mut problems = Vec::new();
    for (line, code, _) in RustText::split(&file.text).lines() {
        for leftover in LEFTOVERS {
            if contains_word(code, leftover) {
                problems.push(format!("{}:{line}: `{leftover}`", file.path));
            }
        }
    }
    problems
}

/// Whether `word` is in `code` and is not the end of a longer name.
fn contains_word(code: &str, word: &str) -> bool {
    code.match_indices(word).any(|(at, _)| {
        let before = code.get(..at).and_then(|before| before.chars().last());
        !before.is_some_and(|last| last.is_alphanumeric() || last == '_')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        problems(&TextFile {
            path: "a.rs".to_owned(),
            text: text.to_owned(),
        })
    }

    #[test]
    fn each_leftover_is_found_with_its_line() {
        for leftover in LEFTOVERS {
            assert_eq!(
                found(&format!("\n  {leftover}")),
                [format!("a.rs:2: `{leftover}`")]
            );
        }
    }

    #[test]
    fn mentions_and_longer_names_are_fine() {
        assert!(found("// todo! is banned\nlet a = \"dbg!\";\nmy_todo!();\n").is_empty());
    }
}
