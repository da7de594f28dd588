/// Whether a session is recorded, and its lease: `session`.
///
/// The lease of an id that was recorded before is there too, so that its token is never given again.
pub(crate) const OF_SESSION: &str = "SELECT l.token, l.owner, l.expires_at \
     FROM sessions s LEFT JOIN leases l ON l.session_id = s.id WHERE s.id = $1";

/// Records a lease: `session, token, owner, expires_at`.
pub(crate) const PUT: &str = "INSERT INTO leases (session_id, token, owner, expires_at) \
     VALUES ($1, $2, $3, $4) ON CONFLICT (session_id) DO UPDATE \
     SET token = excluded.token, owner = excluded.owner, expires_at = excluded.expires_at";

/// Gives up a lease if it is the present one: `session, token`.
pub(crate) const RELEASE: &str =
    "UPDATE leases SET owner = NULL, expires_at = NULL WHERE session_id = $1 AND token = $2";

/// Gives up whatever lease there is, and leaves a row that tells of the session when it is deleted: `session`.
///
/// The token of one that nobody ever took is not given to anybody: the next is greater.
pub(crate) const LEAVE: &str = "INSERT INTO leases (session_id, token, owner, expires_at) \
     VALUES ($1, 1, NULL, NULL) ON CONFLICT (session_id) DO UPDATE SET owner = NULL, expires_at = NULL";

/// The last token of a session that was deleted; no row where one is recorded or never was: `session`.
pub(crate) const OF_DELETED: &str = "SELECT token FROM leases \
     WHERE session_id = $1 AND NOT EXISTS (SELECT 1 FROM sessions WHERE id = $1)";

/// Makes all tokens greater and gives up all leases: `by how much`.
#[cfg(feature = "sqlite")]
pub(crate) const LEAP: &str =
    "UPDATE leases SET token = token + $1, owner = NULL, expires_at = NULL";
