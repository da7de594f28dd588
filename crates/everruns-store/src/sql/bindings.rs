/// Whether a session is recorded, and its binding: `session`.
pub(crate) const OF_SESSION: &str = "SELECT b.provider_id, b.workspace_id, b.head_id, b.access, b.payload \
     FROM sessions s LEFT JOIN workspace_bindings b ON b.session_id = s.id WHERE s.id = $1";

/// Sessions bound to a head which exclude another binding:
/// `workspace, provider, head, access of the other binding`.
pub(crate) const HOLDER: &str = "SELECT session_id FROM workspace_bindings \
     WHERE workspace_id = $1 AND provider_id = $2 AND head_id = $3 \
       AND (access = 'isolated' OR CAST($4 AS TEXT) = 'isolated') \
     ORDER BY session_id LIMIT 1";

/// Binds: `session, provider, workspace, head, access, payload`.
pub(crate) const INSERT: &str = "INSERT INTO workspace_bindings \
     (session_id, provider_id, workspace_id, head_id, access, payload) \
     VALUES ($1, $2, $3, $4, $5, $6)";
