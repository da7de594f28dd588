//! Times as people read them.

use everruns::clock::Timestamp;

/// A time to the second, in UTC, as RFC 3339 writes it.
pub(crate) fn shown(time: Timestamp) -> String {
    match jiff::Timestamp::from_millisecond(time.as_millis()) {
        Ok(time) => time.round(jiff::Unit::Second).unwrap_or(time).to_string(),
        Err(_) => time.to_string(),
    }
}
