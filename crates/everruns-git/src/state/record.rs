//! Versioned records: one JSON document a file.

use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::durable;
use crate::error::{GitError, Result};

/// The newest format that this version reads, and the one it writes.
pub(crate) const FORMAT: u32 = 1;

/// The part of a record that every format shares.
#[derive(Deserialize)]
struct Versioned {
    format: u32,
}

/// What is written: the format beside the record's own fields.
#[derive(Serialize)]
struct Framed<'a, T> {
    format: u32,
    #[serde(flatten)]
    record: &'a T,
}

/// The bytes of `record`.
pub(crate) fn encode<T: Serialize>(path: &Path, record: &T) -> Result<Vec<u8>> {
    let framed = Framed {
        format: FORMAT,
        record,
    };
    let mut bytes =
        serde_json::to_vec_pretty(&framed).map_err(|source| GitError::CorruptRecord {
            path: path.to_owned(),
            source,
        })?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// Reads `bytes`, refusing what a newer version wrote.
pub(crate) fn decode<T: DeserializeOwned>(path: &Path, bytes: &[u8]) -> Result<T> {
    let corrupt = |source| GitError::CorruptRecord {
        path: path.to_owned(),
        source,
    };
    let Versioned { format } = serde_json::from_slice(bytes).map_err(corrupt)?;
    if format > FORMAT {
        return Err(GitError::NewerRecord {
            path: path.to_owned(),
            found: format,
            known: FORMAT,
        });
    }
    serde_json::from_slice(bytes).map_err(corrupt)
}

/// Replaces the record at `path`.
pub(crate) fn save<T: Serialize>(path: &Path, record: &T) -> Result<()> {
    durable::write(path, &encode(path, record)?)
}

/// The record at `path`, if there is one.
pub(crate) fn load<T: DeserializeOwned>(path: &Path) -> Result<Option<T>> {
    match durable::read(path)? {
        Some(bytes) => decode(path, &bytes).map(Some),
        None => Ok(None),
    }
}
