//! Exact replacements in a file.

use bytes::Bytes;

/// The bytes after all edits of old texts to new ones that are there so often; `None` when they are refused.
pub type Edited = fn(&Bytes, &[(&str, &str, usize)]) -> Option<Bytes>;

/// Takes `data` as a file, and texts to replace each with the next, parted by `0xff`. Checks that with `edited` exactly
/// what is asked for changes, and that all edits are made or none.
pub fn check(data: &[u8], edited: Edited) {
    let mut parts = data.split(|&byte| byte == 0xff);
    let content = Bytes::copy_from_slice(parts.next().unwrap_or_default());
    let texts: Vec<&str> = parts
        .filter_map(|part| std::str::from_utf8(part).ok())
        .take(8)
        .collect();
    assert_eq!(edited(&content, &[]), Some(content.clone()));
    let mut edits = Vec::new();
    for pair in texts.chunks_exact(2) {
        let &[old, new] = pair else { continue };
        edits.push((old, new, 1));
        for count in 1..3 {
            if let Some(result) = edited(&content, &[(old, new, count)])
                && !is_about_line_ends(old, new)
            {
                let places = places(&content, old.as_bytes());
                assert_eq!(places.len(), count, "{old:?} in {content:?}");
                assert_eq!(
                    result,
                    replaced(&content, &places, old.len(), new.as_bytes())
                );
            }
        }
    }
    edits.push(("", "x", 1));
    assert_eq!(edited(&content, &edits), None, "an empty text was found");
}

/// What is asked for is then not what is in the file byte for byte: line ends follow the file, and a byte order mark is
/// no part of its text.
fn is_about_line_ends(old: &str, new: &str) -> bool {
    [old, new]
        .iter()
        .any(|text| text.contains(['\r', '\n', '\u{feff}']))
}

/// Where `old` is in `content`, one place after the end of the other.
fn places(content: &[u8], old: &[u8]) -> Vec<usize> {
    let mut places = Vec::new();
    let mut at = 0;
    while at + old.len() <= content.len() {
        if content[at..].starts_with(old) {
            places.push(at);
            at += old.len();
        } else {
            at += 1;
        }
    }
    places
}

fn replaced(content: &[u8], places: &[usize], length: usize, new: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut from = 0;
    for &at in places {
        bytes.extend_from_slice(&content[from..at]);
        bytes.extend_from_slice(new);
        from = at + length;
    }
    bytes.extend_from_slice(&content[from..]);
    bytes
}
