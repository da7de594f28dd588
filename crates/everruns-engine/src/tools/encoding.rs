use bytes::Bytes;
use schemars::JsonSchema;
use serde::Serialize;

use super::text::is_binary;

/// How the bytes of a text file stand for its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(super) enum Encoding {
    /// UTF-8, with or without a byte order mark.
    #[serde(rename = "utf-8")]
    Utf8,
    /// UTF-16, little endian, with a byte order mark.
    #[serde(rename = "utf-16le")]
    Utf16Le,
    /// UTF-16, big endian, with a byte order mark.
    #[serde(rename = "utf-16be")]
    Utf16Be,
}

/// A text file as UTF-8.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Decoded {
    /// A byte order mark included; bytes of a UTF-8 file that are none stay as they are.
    pub(super) bytes: Bytes,
    pub(super) encoding: Encoding,
    /// Whether [`encode`] gives back the same bytes.
    pub(super) is_exact: bool,
}

/// The text in `bytes`; `None` when they are none. A file is UTF-16 when a byte order mark and a NUL say so.
pub(super) fn decode(bytes: &Bytes) -> Option<Decoded> {
    if !is_binary(bytes) {
        return Some(Decoded {
            bytes: bytes.clone(),
            encoding: Encoding::Utf8,
            is_exact: true,
        });
    }
    let encoding = match bytes.get(..2)? {
        b"\xff\xfe" => Encoding::Utf16Le,
        b"\xfe\xff" => Encoding::Utf16Be,
        _ => return None,
    };
    let units = bytes.as_chunks::<2>().0.iter().map(|&pair| match encoding {
        Encoding::Utf16Be => u16::from_be_bytes(pair),
        _ => u16::from_le_bytes(pair),
    });
    let mut is_exact = bytes.len().is_multiple_of(2);
    let text: String = char::decode_utf16(units)
        .map(|unit| {
            unit.unwrap_or_else(|_| {
                is_exact = false;
                char::REPLACEMENT_CHARACTER
            })
        })
        .collect();
    // A NUL in the text itself: it is something else that begins like a byte order mark.
    (!text.contains('\0')).then(|| Decoded {
        bytes: text.into(),
        encoding,
        is_exact,
    })
}

/// The bytes of a text, given as UTF-8, in `encoding`.
pub(super) fn encode(text: Bytes, encoding: Encoding) -> Bytes {
    let to_bytes = match encoding {
        Encoding::Utf8 => return text,
        Encoding::Utf16Le => u16::to_le_bytes,
        Encoding::Utf16Be => u16::to_be_bytes,
    };
    String::from_utf8_lossy(&text)
        .encode_utf16()
        .flat_map(to_bytes)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn utf16(text: &str, encoding: Encoding) -> Bytes {
        encode(Bytes::copy_from_slice(text.as_bytes()), encoding)
    }

    #[test]
    fn h45_utf16_comes_back_byte_for_byte() {
        for encoding in [Encoding::Utf16Le, Encoding::Utf16Be] {
            let bytes = utf16("\u{feff}one\r\n\u{1f600}", encoding);
            let decoded = decode(&bytes).unwrap();
            assert_eq!((decoded.encoding, decoded.is_exact), (encoding, true));
            assert_eq!(decoded.bytes, "\u{feff}one\r\n\u{1f600}");
            assert_eq!(encode(decoded.bytes, encoding), bytes);
        }
    }

    #[test]
    fn broken_utf16_is_told() {
        let mut bytes = utf16("\u{feff}a", Encoding::Utf16Le).to_vec();
        bytes.push(b'x');
        assert!(!decode(&bytes.into()).unwrap().is_exact);
        let lone = Bytes::from_static(b"\xff\xfea\0\x00\xd8");
        let decoded = decode(&lone).unwrap();
        assert!(!decoded.is_exact && decoded.bytes.ends_with("\u{fffd}".as_bytes()));
    }

    #[test]
    fn other_bytes_with_a_nul_are_no_text() {
        for bytes in [&b"a\0b"[..], b"\xff\xfe\0\0a\0\0\0", b"\0", b"\xff\xfe\0\0"] {
            assert_eq!(decode(&Bytes::from_static(bytes)), None);
        }
        let decoded = decode(&Bytes::from_static(b"\xff\xfe\na")).unwrap();
        assert_eq!(decoded.encoding, Encoding::Utf8);
    }
}
