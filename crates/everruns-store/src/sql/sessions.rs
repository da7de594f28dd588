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
/// `updated_at, id` of the place, first and last id, workspace or null, limit.
pub(crate) const LIST: &str = "SELECT s.id, s.title, s.agent, s.created_at, s.updated_at, s.last_seq, \
            b.provider_id, b.workspace_id, b.head_id, b.access, b.payload \
     FROM sessions s LEFT JOIN workspace_bindings b ON b.session_id = s.id \
     WHERE (s.updated_at, s.id) < ($1, $2) AND s.id >= $3 AND s.id < $4 \
       AND (CAST($5 AS TEXT) IS NULL OR b.workspace_id = $5) \
     ORDER BY s.updated_at DESC, s.id DESC LIMIT $6";

/// When a session changed last: `id`.
pub(crate) const UPDATED_AT: &str = "SELECT updated_at FROM sessions WHERE id = $1";

/// Changes a title: `id, title`.
pub(crate) const SET_TITLE: &str = "UPDATE sessions SET title = $2 WHERE id = $1";

/// Notes an append: `id, last_seq, updated_at, agent or null`.
pub(crate) const NOTE_APPEND: &str = "UPDATE sessions SET last_seq = $2, updated_at = $3, \
     agent = COALESCE($4, agent) WHERE id = $1";

/// Removes a session with its binding and events: `id`.
pub(crate) const DELETE: &str = "DELETE FROM sessions WHERE id = $1";
