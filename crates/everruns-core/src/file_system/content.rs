use std::fmt;
use std::str::FromStr;
use std::sync::OnceLock;

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

    /// The hash itself.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
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

/// How many bytes are hashed when their version is asked for, which may be on a task that must not be held up. More are
/// hashed where they are read.
const HASHED_WHEN_ASKED: usize = 64 * 1024;

/// What a read gave: bytes of a file, its size, and its version.
///
/// The version is always that of the file as it was when these bytes were read. That of a small file is computed when it
/// is asked for the first time: who only reads does not pay for a hash.
#[derive(Clone, Debug)]
pub struct FileContent {
    bytes: Bytes,
    size: u64,
    /// While it is empty, `bytes` are the whole file.
    version: OnceLock<ContentVersion>,
}

impl FileContent {
    /// The `range` of `whole`, with the version of `whole`.
    pub fn of(whole: &Bytes, range: ReadRange) -> Self {
        let content = Self::cut(whole, range);
        if content.bytes.len() < whole.len() || whole.len() > HASHED_WHEN_ASKED {
            content.version.get_or_init(|| ContentVersion::of(whole));
        }
        content
    }

    /// The `range` of `whole`, whose version is known to be `version`.
    pub fn with_version(whole: &Bytes, range: ReadRange, version: ContentVersion) -> Self {
        let content = Self::cut(whole, range);
        content.version.get_or_init(|| version);
        content
    }

    fn cut(whole: &Bytes, range: ReadRange) -> Self {
        let start = usize::try_from(range.offset)
            .unwrap_or(usize::MAX)
            .min(whole.len());
        let rest = whole.len() - start;
        let wanted = range
            .length
            .map_or(rest, |n| usize::try_from(n).unwrap_or(usize::MAX).min(rest));
        Self {
            bytes: whole.slice(start..start + wanted),
            size: whole.len() as u64,
            version: OnceLock::new(),
        }
    }

    /// The bytes of the range.
    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// The bytes of the range, without a copy.
    pub fn into_bytes(self) -> Bytes {
        self.bytes
    }

    /// The size of the whole file, in bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The version of the whole file.
    pub fn version(&self) -> ContentVersion {
        *self.version.get_or_init(|| ContentVersion::of(&self.bytes))
    }
}

/// The same bytes of the same version of a file.
impl PartialEq for FileContent {
    fn eq(&self, other: &Self) -> bool {
        self.size == other.size && self.bytes == other.bytes && self.version() == other.version()
    }
}

impl Eq for FileContent {}

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
    fn a_small_file_is_hashed_when_asked_and_a_large_one_when_read() {
        for (length, is_known) in [(HASHED_WHEN_ASKED, false), (HASHED_WHEN_ASKED + 1, true)] {
            let whole = Bytes::from(vec![7; length]);
            let content = FileContent::of(&whole, ReadRange::ALL);
            assert_eq!(content.version.get().is_some(), is_known, "{length}");
            assert_eq!(content.version(), ContentVersion::of(&whole));
            assert_eq!(content.clone().version(), content.version());
            assert_eq!(content, FileContent::of(&whole, ReadRange::ALL));
        }
        let part = ReadRange {
            offset: 1,
            length: Some(1),
        };
        let (one, other) = (Bytes::from_static(b"abc"), Bytes::from_static(b"abd"));
        let (one, other) = (FileContent::of(&one, part), FileContent::of(&other, part));
        assert_eq!(one.bytes(), other.bytes());
        assert_ne!(one, other, "they are of other versions");
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
        assert_eq!((part.bytes().as_ref(), part.size()), (b"89".as_slice(), 10));
        assert_eq!(part.version(), ContentVersion::of(&whole));
        assert!(
            FileContent::of(
                &whole,
                ReadRange {
                    offset: 99,
                    length: None
                }
            )
            .bytes()
            .is_empty()
        );
    }
}
