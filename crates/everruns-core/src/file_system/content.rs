use std::fmt;
use std::str::FromStr;

use bytes::Bytes;
use serde::{Deserialize, Serialize};

/// The version of a file: the BLAKE3 hash of its bytes (<https://github.com/BLAKE3-team/BLAKE3-specs>).
///
/// Equal bytes have equal versions, wherever and whenever they are. It displays as 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ContentVersion([u8; 32]);

/// A text that is no [`ContentVersion`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is no content version: it has 64 hexadecimal digits", text.escape_debug())]
pub struct VersionError {
    /// The text as given.
    pub text: String,
}

impl ContentVersion {
    /// The version of `bytes`.
    pub fn of(bytes: &[u8]) -> Self {
        Self(*blake3::hash(bytes).as_bytes())
    }

    /// The first 12 hexadecimal digits, for people.
    pub fn short(&self) -> String {
        self.to_string().chars().take(12).collect()
    }
}

impl fmt::Display for ContentVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for ContentVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ContentVersion({})", self.short())
    }
}

impl FromStr for ContentVersion {
    type Err = VersionError;
    fn from_str(text: &str) -> Result<Self, VersionError> {
        match blake3::Hash::from_hex(text) {
            Ok(hash) => Ok(Self(*hash.as_bytes())),
            Err(_) => Err(VersionError {
                text: text.to_owned(),
            }),
        }
    }
}

impl TryFrom<String> for ContentVersion {
    type Error = VersionError;
    fn try_from(text: String) -> Result<Self, VersionError> {
        text.parse()
    }
}

impl From<ContentVersion> for String {
    fn from(version: ContentVersion) -> Self {
        version.to_string()
    }
}

/// Which bytes of a file to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct ReadRange {
    /// The first byte, counted from 0.
    pub offset: u64,
    /// How many bytes at most; `None` for all up to the end.
    pub length: Option<u64>,
}

impl ReadRange {
    /// The whole file.
    pub const ALL: Self = Self {
        offset: 0,
        length: None,
    };
}

/// What a read gave.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileContent {
    /// The bytes of the range.
    pub bytes: Bytes,
    /// The version of the whole file.
    pub version: ContentVersion,
    /// The size of the whole file, in bytes.
    pub size: u64,
}

impl FileContent {
    /// The `range` of `whole`, with the version of `whole`.
    pub fn of(whole: &Bytes, range: ReadRange) -> Self {
        Self::with_version(whole, range, ContentVersion::of(whole))
    }

    /// The `range` of `whole`, whose version is known to be `version`.
    pub fn with_version(whole: &Bytes, range: ReadRange, version: ContentVersion) -> Self {
        let start = usize::try_from(range.offset)
            .unwrap_or(usize::MAX)
            .min(whole.len());
        let rest = whole.len() - start;
        let wanted = range
            .length
            .map_or(rest, |n| usize::try_from(n).unwrap_or(usize::MAX).min(rest));
        Self {
            bytes: whole.slice(start..start + wanted),
            version,
            size: whole.len() as u64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_hashes_and_parse_back() {
        let version = ContentVersion::of(b"hello");
        assert_eq!(version.to_string().parse(), Ok(version));
        assert_ne!(version, ContentVersion::of(b"hello "));
        assert!("xyz".parse::<ContentVersion>().is_err());
    }

    #[test]
    fn ranges_are_clipped_and_keep_the_whole_version() {
        let whole = Bytes::from_static(b"0123456789");
        let part = FileContent::of(
            &whole,
            ReadRange {
                offset: 8,
                length: Some(10),
            },
        );
        assert_eq!((part.bytes.as_ref(), part.size), (b"89".as_slice(), 10));
        assert_eq!(part.version, ContentVersion::of(&whole));
        assert!(
            FileContent::of(
                &whole,
                ReadRange {
                    offset: 99,
                    length: None
                }
            )
            .bytes
            .is_empty()
        );
    }
}
