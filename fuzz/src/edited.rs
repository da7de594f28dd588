use bytes::Bytes;

use super::{edit, text};

/// The bytes after all edits of old texts to new ones that are there so often; `None` when they are refused.
pub fn edited(bytes: &Bytes, edits: &[(&str, &str, usize)]) -> Option<Bytes> {
    let mut text = text::Text::of(bytes);
    let replacements: Vec<_> = edits
        .iter()
        .map(|&(old, new, count)| edit::Replacement {
            old: old.to_owned(),
            new: new.to_owned(),
            count,
        })
        .collect();
    edit::apply(&mut text, &replacements).ok()?;
    Some(text.to_bytes())
}
