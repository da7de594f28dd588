use std::fmt::Write as _;

use everruns_core::path::{WorkspacePath, is_git_internal_name};

/// What the names of temporary files begin with.
pub(super) const TEMPORARY_PREFIX: &str = ".everruns-tmp-";

/// Whether `name` is that of a temporary file of a write. Such names are no part of the tree.
pub fn is_temporary_name(name: &str) -> bool {
    name.starts_with(TEMPORARY_PREFIX)
}

/// Whether the entry `name` is no part of the tree, so that no listing or search shows it.
pub(super) fn is_hidden_from_tree(name: &[u8]) -> bool {
    name.starts_with(TEMPORARY_PREFIX.as_bytes()) || is_git_name(name)
}

/// Whether `name` is `.git` in any spelling. Bytes that are not Unicode are no part of such a spelling.
pub(super) fn is_git_name(name: &[u8]) -> bool {
    is_git_internal_name(&String::from_utf8_lossy(name))
}

/// Whether `path` goes through a temporary file's name.
pub(super) fn is_temporary(path: &WorkspacePath) -> bool {
    path.components().any(is_temporary_name)
}

/// The name with every byte that is not Unicode, and every backslash, escaped as `\xNN`, so that different names
/// stay different.
pub(super) fn escaped(name: &[u8]) -> String {
    let mut text = String::new();
    for chunk in name.utf8_chunks() {
        text.push_str(&chunk.valid().replace('\\', "\\x5c"));
        for byte in chunk.invalid() {
            // Writing to a text cannot fail.
            let _ = write!(text, "\\x{byte:02x}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn h42_escapes_are_lossless() {
        assert_eq!(escaped(b"a\xffb"), "a\\xffb");
        assert_ne!(escaped(b"a\\xff\xff"), escaped(b"a\xff\\xff"));
        assert!(is_git_name(b".GIT"));
        assert!(is_hidden_from_tree(b".everruns-tmp-0"));
    }
}
