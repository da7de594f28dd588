//! Names made for Git and for people.

use gix::bstr::BStr;
use std::fmt::Write as _;

/// The branch, without `refs/heads/`, of the head `head_id` whose name has the slug `slug`.
///
/// The end of the id keeps branches of equal slugs apart.
pub(crate) fn branch(slug: &str, head_id: &str) -> String {
    let id: Vec<char> = head_id
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .collect();
    let short: String = id.iter().skip(id.len().saturating_sub(10)).collect();
    format!("everruns/{slug}-{short}")
}

/// A path of Git's as text; in one that is no UTF-8, the bytes that aren't, and backslashes, become `\xNN`.
pub(crate) fn path_text(path: &BStr) -> String {
    if let Ok(text) = std::str::from_utf8(path) {
        return text.to_owned();
    }
    let mut text = String::with_capacity(path.len());
    for chunk in path.utf8_chunks() {
        text.push_str(&chunk.valid().replace('\\', "\\x5c"));
        for byte in chunk.invalid() {
            write!(text, "\\x{byte:02x}").expect("writing to a string can't fail");
        }
    }
    text
}

/// The text, cut to a length that fits in a message.
pub(crate) fn shorten(text: &str) -> String {
    const LIMIT: usize = 80;
    if text.chars().count() <= LIMIT {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(LIMIT).collect();
    short.push('…');
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn branches_of_equal_slugs_differ() {
        assert_eq!(
            branch("fix", "head_0123456789abcdefghjk"),
            "everruns/fix-abcdefghjk"
        );
    }

    #[test]
    fn h42_names_that_are_no_text_are_escaped() {
        assert_eq!(path_text(BStr::new(b"a\xff/\xc3\xa4")), "a\\xff/ä");
        assert_eq!(
            path_text(BStr::new(b"a\\xff")),
            "a\\xff",
            "text is told as it is"
        );
        assert_eq!(path_text(BStr::new(b"a\\\xff")), "a\\x5c\\xff");
    }
}
