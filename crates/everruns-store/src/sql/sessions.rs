/// Adds a session unless there is one of this id: `id, title, agent, created_at`.
pub(crate) const INSERT: &str = "INSERT INTO sessions (id, title, agent, created_at, updated_at) \
     VALUES ($1, $2, $3, $4, $4) ON CONFLICT (id) DO NOTHING";

/// The last place of a session: `id`.
pub(crate) const LAST_PLACE: &str = "SELECT last_seq FROM sessions WHERE id = $1";

/// One session with its binding: `id`.
pub(crate) const SELECT: &str = "SELECT s.id, s.title, s.agent, s.created_at, s.updated_at, s.last_seq, \
            b.provider_id, b.workspace_id, b.head_id, b.access, b.payload \
     FROM sessions s LEFT JOIN workspace_bindings b ON b.session_id = s.id \
     WHERE s.id = $1";

/// Sessions before a place in the order, the most recently changed first:
/// `updated_at, id` of the place, first and last id, then each or null: workspace, head, part of the title, agent,
/// earliest change, state, time of the state; and the limit.
///
/// The databases differ in how they look into a text and into JSON.
macro_rules! list {
    (title: $title:literal, agent: $agent:literal) => {
        concat!(
            "SELECT s.id, s.title, s.agent, s.created_at, s.updated_at, s.last_seq, \
                b.provider_id, b.workspace_id, b.head_id, b.access, b.payload \
             FROM sessions s LEFT JOIN workspace_bindings b ON b.session_id = s.id \
             LEFT JOIN leases l ON l.session_id = s.id AND l.owner IS NOT NULL AND l.expires_at > $11 \
             WHERE (s.updated_at, s.id) < ($1, $2) AND s.id >= $3 AND s.id < $4 \
               AND (CAST($5 AS TEXT) IS NULL OR b.workspace_id = $5) \
               AND (CAST($6 AS TEXT) IS NULL OR b.head_id = $6) \
               AND (CAST($7 AS TEXT) IS NULL OR ",
            $title,
            ") AND (CAST($8 AS TEXT) IS NULL OR ",
            $agent,
            ") AND (CAST($9 AS BIGINT) IS NULL OR s.updated_at >= $9) \
               AND (CAST($10 AS TEXT) IS NULL \
                 OR ($10 = 'unbound' AND b.session_id IS NULL) \
                 OR ($10 = 'idle' AND b.session_id IS NOT NULL AND l.session_id IS NULL) \
                 OR ($10 = 'executing' AND l.session_id IS NOT NULL)) \
             ORDER BY s.updated_at DESC, s.id DESC LIMIT $12"
        )
    };
}

/// Lists sessions in SQLite.
#[cfg(feature = "sqlite")]
pub(crate) const LIST_SQLITE: &str = list!(
    title: "INSTR(LOWER(s.title), LOWER($7)) > 0",
    agent: "s.agent ->> '$.name' = $8"
);

/// Lists sessions in PostgreSQL, where letters other than A to Z stay as they are in the collation `C` alone.
#[cfg(feature = "postgres")]
pub(crate) const LIST_POSTGRES: &str = list!(
    title: "STRPOS(LOWER(s.title COLLATE \"C\"), LOWER($7 COLLATE \"C\")) > 0",
    agent: "CAST(s.agent AS JSONB) ->> 'name' = $8"
);

/// When a session changed last: `id`.
pub(crate) const UPDATED_AT: &str = "SELECT updated_at FROM sessions WHERE id = $1";

/// Changes a title: `id, title`.
pub(crate) const SET_TITLE: &str = "UPDATE sessions SET title = $2 WHERE id = $1";

/// Notes an append; the time of the last change never goes back: `id, last_seq, updated_at, agent or null`.
pub(crate) const NOTE_APPEND: &str = "UPDATE sessions SET last_seq = $2, \
     updated_at = CASE WHEN updated_at < $3 THEN $3 ELSE updated_at END, \
     agent = COALESCE($4, agent) WHERE id = $1";

/// Notes an event added to every session that has one.
#[cfg(feature = "sqlite")]
pub(crate) const NOTE_RESTORED: &str =
    "UPDATE sessions SET last_seq = last_seq + 1 WHERE last_seq > 0";

/// Removes a session with its binding and events: `id`.
pub(crate) const DELETE: &str = "DELETE FROM sessions WHERE id = $1";
