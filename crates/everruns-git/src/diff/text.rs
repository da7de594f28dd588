//! Which contents are text.

/// How many bytes at the start of a content decide whether it is text, as in Git.
const LOOKED_AT: usize = 8000;

/// Whether Git would call `content` binary: it has a NUL byte near its start.
pub(super) fn is_binary(content: &[u8]) -> bool {
    content.iter().take(LOOKED_AT).any(|byte| *byte == 0)
}
