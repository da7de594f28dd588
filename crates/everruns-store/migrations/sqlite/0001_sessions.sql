CREATE TABLE sessions (
    id         TEXT    NOT NULL PRIMARY KEY,
    title      TEXT,
    agent      TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    last_seq   INTEGER NOT NULL DEFAULT 0 CHECK (last_seq >= 0)
) STRICT;

CREATE INDEX sessions_by_change ON sessions (updated_at, id);

CREATE TABLE workspace_bindings (
    session_id   TEXT NOT NULL PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
    provider_id  TEXT NOT NULL,
    workspace_id TEXT NOT NULL,
    head_id      TEXT NOT NULL,
    access       TEXT NOT NULL CHECK (access IN ('isolated', 'shared')),
    payload      TEXT NOT NULL
) STRICT;

CREATE UNIQUE INDEX workspace_bindings_isolated
    ON workspace_bindings (provider_id, workspace_id, head_id) WHERE access = 'isolated';

CREATE INDEX workspace_bindings_by_head
    ON workspace_bindings (workspace_id, provider_id, head_id);

-- The first event of an append carries the append's key and the place of its last event.
CREATE TABLE events (
    session_id      TEXT    NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    seq             INTEGER NOT NULL CHECK (seq > 0),
    at              INTEGER NOT NULL,
    payload         TEXT    NOT NULL,
    idempotency_key TEXT,
    batch_last      INTEGER CHECK ((batch_last IS NULL) = (idempotency_key IS NULL)),
    PRIMARY KEY (session_id, seq)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX events_by_key
    ON events (session_id, idempotency_key) WHERE idempotency_key IS NOT NULL;

CREATE TRIGGER events_are_not_changed BEFORE UPDATE ON events
BEGIN
    SELECT RAISE(ABORT, 'events are never changed');
END;

-- `REPLACE` removes rows without asking the trigger below.
CREATE TRIGGER events_are_not_replaced BEFORE INSERT ON events
WHEN EXISTS (SELECT 1 FROM events WHERE session_id = NEW.session_id AND seq = NEW.seq)
BEGIN
    SELECT RAISE(ABORT, 'events are never changed');
END;

CREATE TRIGGER events_are_not_removed BEFORE DELETE ON events
WHEN EXISTS (SELECT 1 FROM sessions WHERE id = OLD.session_id)
BEGIN
    SELECT RAISE(ABORT, 'events are removed with their session only');
END;

-- A row outlives its session, so that the token grows even when the session's id is used again.
CREATE TABLE leases (
    session_id TEXT    NOT NULL PRIMARY KEY,
    token      INTEGER NOT NULL CHECK (token > 0),
    owner      TEXT,
    expires_at INTEGER CHECK ((expires_at IS NULL) = (owner IS NULL))
) STRICT, WITHOUT ROWID;
