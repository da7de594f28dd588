//! Paths as text in records: readable, and lossless for names that are no text.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize as _, Deserializer, Serializer};

/// `bytes` with every byte that isn't printable ASCII, and `%`, as `%XX`.
pub(crate) fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for &byte in bytes {
        if (byte.is_ascii_graphic() || byte == b' ') && byte != b'%' {
            text.push(char::from(byte));
        } else {
            write!(text, "%{byte:02X}").expect("writing to a string can't fail");
        }
    }
    text
}

/// The bytes that [`encode`] wrote as `text`.
pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digits = [rest.next()?, rest.next()?];
            let digits = std::str::from_utf8(&digits).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    Some(bytes)
}

/// Writes a path into a record.
pub(crate) fn serialize<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&encode(path.as_os_str().as_bytes()))
}

/// Reads a path from a record.
pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PathBuf, D::Error> {
    let text = String::deserialize(deserializer)?;
    let bytes = decode(&text).ok_or_else(|| serde::de::Error::custom("not an encoded path"))?;
    Ok(PathBuf::from(OsString::from_vec(bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_survive_byte_for_byte() {
        for bytes in [&b"/a b/%41/c"[..], b"/\xff\xfe/\n", "/häd/日".as_bytes()] {
            assert_eq!(decode(&encode(bytes)).as_deref(), Some(bytes));
            assert!(encode(bytes).is_ascii());
        }
        assert_eq!(decode("/a%4"), None);
    }
}
