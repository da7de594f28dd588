/// Adds an event: `session, seq, at, payload, key or null, batch_last or null`.
pub(crate) const INSERT: &str = "INSERT INTO events \
     (session_id, seq, at, payload, idempotency_key, batch_last) VALUES ($1, $2, $3, $4, $5, $6)";

/// Events after a place, oldest first: `session, seq, limit`.
pub(crate) const FORWARD: &str = "SELECT seq, at, payload FROM events \
     WHERE session_id = $1 AND seq > $2 ORDER BY seq LIMIT $3";

/// Events before a place, newest first: `session, seq, limit`.
pub(crate) const BACKWARD: &str = "SELECT seq, at, payload FROM events \
     WHERE session_id = $1 AND seq < $2 ORDER BY seq DESC LIMIT $3";

/// Takes over the first events of another session, without their keys: `session, source, last seq`.
pub(crate) const COPY: &str = "INSERT INTO events (session_id, seq, at, payload) \
     SELECT CAST($1 AS TEXT), seq, at, payload FROM events WHERE session_id = $2 AND seq <= $3 ORDER BY seq";

/// Adds an event to every session that has one: `at, payload`. `sessions::NOTE_RESTORED` follows.
#[cfg(feature = "sqlite")]
pub(crate) const INSERT_RESTORED: &str = "INSERT INTO events (session_id, seq, at, payload) \
     SELECT id, last_seq + 1, $1, $2 FROM sessions WHERE last_seq > 0";
