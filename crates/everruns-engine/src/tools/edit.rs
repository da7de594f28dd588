//! Exact replacements in a text, all of them or none.

use super::nearest;
use super::text::Text;
use crate::tool_api::ToolError;

/// Places that an error names.
const NAMED_PLACES: usize = 5;

/// One replacement.
#[derive(Clone, Debug)]
pub(super) struct Replacement {
    pub(super) old: String,
    pub(super) new: String,
    /// How often the old text must be there.
    pub(super) count: usize,
}

/// Applies the replacements one after the other, each to the result of those before. Returns how many places were
/// changed.
pub(super) fn apply(text: &mut Text, replacements: &[Replacement]) -> Result<usize, ToolError> {
    let mut changed = 0;
    for (index, replacement) in replacements.iter().enumerate() {
        let which = match replacements.len() {
            1 => String::new(),
            _ => format!("Edit {} of {}: ", index + 1, replacements.len()),
        };
        changed += apply_one(text, replacement)
            .map_err(|reason| ToolError::new(format!("Nothing was changed. {which}{reason}")))?;
    }
    Ok(changed)
}

fn apply_one(text: &mut Text, replacement: &Replacement) -> Result<usize, String> {
    let old = replacement.old.replace("\r\n", "\n");
    let new = replacement.new.replace("\r\n", "\n");
    if old.is_empty() {
        return Err("`old_text` is empty: give the text that is to be replaced.".to_owned());
    }
    if old == new {
        return Err("`old_text` and `new_text` are the same.".to_owned());
    }
    let places = find(&text.normal, &old);
    if places.is_empty() {
        return Err(format!(
            "`old_text` is 0 times in the file, expected {}. It must match exactly, spaces included.{}",
            replacement.count,
            nearest::describe(text, &old)
        ));
    }
    if places.len() != replacement.count {
        let lines: Vec<String> = places
            .iter()
            .take(NAMED_PLACES)
            .map(|&at| text.line_at(at).to_string())
            .collect();
        let more = if places.len() > NAMED_PLACES {
            " and more"
        } else {
            ""
        };
        return Err(format!(
            "`old_text` is {} times in the file, expected {}: at lines {}{more}. Add lines around it until it is \
             unique, or set `expected_count` to {} to replace all.",
            places.len(),
            replacement.count,
            lines.join(", "),
            places.len()
        ));
    }
    text.replace(&places, old.len(), new.as_bytes());
    Ok(places.len())
}

/// Where `needle` is in `haystack`, without overlaps. As it is valid UTF-8, it can only be in parts that are.
fn find(haystack: &[u8], needle: &str) -> Vec<usize> {
    let mut places = Vec::new();
    let mut start = 0;
    for chunk in haystack.utf8_chunks() {
        let found = chunk.valid().match_indices(needle);
        places.extend(found.map(|(at, _)| start + at));
        start += chunk.valid().len() + chunk.invalid().len();
    }
    places
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    fn edited(bytes: &'static [u8], old: &str, new: &str, count: usize) -> Result<Bytes, String> {
        let mut text = Text::of(&Bytes::from_static(bytes));
        let replacement = Replacement {
            old: old.to_owned(),
            new: new.to_owned(),
            count,
        };
        apply(&mut text, &[replacement])
            .map(|_| text.to_bytes())
            .map_err(|error| error.message)
    }

    #[test]
    fn h45_all_else_stays_byte_for_byte() {
        for (bytes, expected) in [
            (
                &b"\xef\xbb\xbfa\r\nb\r\nc"[..],
                &b"\xef\xbb\xbfa\r\nB\r\nc"[..],
            ),
            (b"\xff\xfe\na\nb", b"\xff\xfe\na\nB"),
            (b"a\r\nx\nb\r\n\r", b"a\r\nx\nB\r\n\r"),
        ] {
            assert_eq!(edited(bytes, "b", "B", 1).unwrap(), expected);
        }
    }

    #[test]
    fn h45_a_match_over_lines_sees_no_difference_of_line_ends() {
        assert_eq!(
            edited(b"a\r\nb\r\n", "a\nb\n", "c\nd\n", 1).unwrap(),
            "c\r\nd\r\n"
        );
        assert_eq!(edited(b"a\nb\n", "a\r\nb", "c\r\nd", 1).unwrap(), "c\nd\n");
    }

    #[test]
    fn h46_the_count_is_checked() {
        let error = edited(b"x\nx\nx\n", "x", "y", 1).unwrap_err();
        assert!(error.contains("3 times in the file, expected 1: at lines 1, 2, 3"));
        let error = edited(b"x\n", "z", "y", 1).unwrap_err();
        assert!(error.contains("0 times"));
        assert_eq!(edited(b"x\nx\n", "x", "xx", 2).unwrap(), "xx\nxx\n");
        assert_eq!(edited(b"x\r\ny\r\nx\r\n", "x\n", "", 2).unwrap(), "y\r\n");
        assert_eq!(
            edited(b"x\r\ny\r\nx", "x", "a\nb", 2).unwrap(),
            "a\r\nb\r\ny\r\na\r\nb"
        );
    }

    #[test]
    fn matches_do_not_overlap() {
        assert_eq!(find(b"aaaa", "aa"), [0, 2]);
        assert_eq!(find(b"ab\xffab", "b"), [1, 4]);
        assert!(find(b"a", "ab").is_empty());
    }
}
