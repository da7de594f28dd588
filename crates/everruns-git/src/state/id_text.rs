//! Object ids as hexadecimal text in records.

use gix::ObjectId;
use serde::{Deserialize as _, Deserializer, Serializer};

/// Writes an id into a record.
pub(crate) fn serialize<S: Serializer>(id: &ObjectId, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(id)
}

/// Reads an id from a record.
pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<ObjectId, D::Error> {
    let text = String::deserialize(deserializer)?;
    ObjectId::from_hex(text.as_bytes()).map_err(|_| serde::de::Error::custom("not an object id"))
}
