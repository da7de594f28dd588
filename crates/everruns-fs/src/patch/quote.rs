//! Paths as Git writes them into patches.

/// Appends `prefix` and `path`, quoted if Git would quote them.
pub(super) fn push(out: &mut Vec<u8>, prefix: &str, path: &[u8]) {
    let is_plain = |byte: &u8| matches!(byte, 0x20..=0x7e) && !matches!(byte, b'"' | b'\\');
    if path.iter().all(is_plain) {
        out.extend_from_slice(prefix.as_bytes());
        out.extend_from_slice(path);
        return;
    }
    out.push(b'"');
    out.extend_from_slice(prefix.as_bytes());
    for byte in path {
        match byte {
            0x07 => out.extend_from_slice(b"\\a"),
            0x08 => out.extend_from_slice(b"\\b"),
            b'\t' => out.extend_from_slice(b"\\t"),
            b'\n' => out.extend_from_slice(b"\\n"),
            0x0b => out.extend_from_slice(b"\\v"),
            0x0c => out.extend_from_slice(b"\\f"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            byte if is_plain(byte) => out.push(*byte),
            byte => out.extend_from_slice(format!("\\{byte:03o}").as_bytes()),
        }
    }
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn h41_h42_names_are_quoted_as_git_does() {
        let quoted = |path: &[u8]| {
            let mut out = Vec::new();
            push(&mut out, "a/", path);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(quoted(b"x y/z"), "a/x y/z");
        assert_eq!(quoted(b"a\"\n\\"), r#""a/a\"\n\\""#);
        assert_eq!(quoted("ä\x1b".as_bytes()), r#""a/\303\244\033""#);
        assert_eq!(quoted(b"\xff"), r#""a/\377""#);
    }
}
