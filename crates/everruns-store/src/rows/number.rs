use everruns_core::ids::SessionId;
use everruns_core::session::StoreError;

/// A count as stored; both databases have signed integers only.
pub(crate) fn to_stored(operation: &'static str, value: u64) -> Result<i64, StoreError> {
    i64::try_from(value).map_err(|error| StoreError::Failed {
        operation,
        source: error.into(),
    })
}

/// A count as read.
pub(crate) fn from_stored(
    session: &SessionId,
    column: &'static str,
    value: i64,
) -> Result<u64, StoreError> {
    u64::try_from(value).map_err(|_| StoreError::CorruptRecord {
        session: session.clone(),
        reason: format!("`{column}` is {value}"),
    })
}
