//! The edit itself is private to its crate, so its sources are compiled into this one.

#[path = "../../../crates/everruns-engine/src/tools/edit.rs"]
#[allow(
    dead_code,
    reason = "the tool that these sources belong to uses the rest"
)]
mod edit;
#[path = "../../../crates/everruns-engine/src/tools/nearest.rs"]
#[allow(
    dead_code,
    reason = "the tool that these sources belong to uses the rest"
)]
mod nearest;
#[path = "../../../crates/everruns-engine/src/tools/text.rs"]
#[allow(
    dead_code,
    reason = "the tool that these sources belong to uses the rest"
)]
mod text;

use bytes::Bytes;

/// The bytes after all edits of old texts to new ones that are there so often; `None` when they are refused.
pub(crate) fn edited(bytes: &Bytes, edits: &[(&str, &str, usize)]) -> Option<Bytes> {
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
