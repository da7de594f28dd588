/// Whether a session is recorded, and its binding: `session`.
pub(crate) const OF_SESSION: &str = "SELECT b.provider_id, b.workspace_id, b.head_id, b.access, b.payload \
     FROM sessions s LEFT JOIN workspace_bindings b ON b.session_id = s.id WHERE s.id = $1";

/// A session bound to a head which excludes another binding: `workspace, provider, head, access of the other binding`.
///
/// However many share the head, one row is read: the one that has it alone, or else any if the other wants it alone.
pub(crate) const HOLDER: &str = "SELECT session_id FROM ( \
         SELECT session_id FROM workspace_bindings \
         WHERE workspace_id = $1 AND provider_id = $2 AND head_id = $3 AND access = 'isolated' LIMIT 1 \
     ) AS alone \
     UNION ALL \
     SELECT session_id FROM ( \
         SELECT session_id FROM workspace_bindings \
         WHERE workspace_id = $1 AND provider_id = $2 AND head_id = $3 AND CAST($4 AS TEXT) = 'isolated' LIMIT 1 \
     ) AS one \
     LIMIT 1";

/// Binds: `session, provider, workspace, head, access, payload`.
pub(crate) const INSERT: &str = "INSERT INTO workspace_bindings \
     (session_id, provider_id, workspace_id, head_id, access, payload) \
     VALUES ($1, $2, $3, $4, $5, $6)";
