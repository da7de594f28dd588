CREATE TABLE sessions (
    id         TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    title      TEXT,
    agent      TEXT   NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    last_seq   BIGINT NOT NULL DEFAULT 0 CHECK (last_seq >= 0)
);

CREATE INDEX sessions_by_change ON sessions (updated_at, id);

CREATE TABLE workspace_bindings (
    session_id   TEXT COLLATE "C" NOT NULL PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
    provider_id  TEXT NOT NULL,
    workspace_id TEXT NOT NULL,
    head_id      TEXT NOT NULL,
    access       TEXT NOT NULL CHECK (access IN ('isolated', 'shared')),
    payload      TEXT NOT NULL
);

CREATE UNIQUE INDEX workspace_bindings_isolated
    ON workspace_bindings (provider_id, workspace_id, head_id) WHERE access = 'isolated';

CREATE INDEX workspace_bindings_by_head
    ON workspace_bindings (workspace_id, provider_id, head_id);

-- The first event of an append carries the append's key and the place of its last event.
CREATE TABLE events (
    session_id      TEXT COLLATE "C" NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    seq             BIGINT NOT NULL CHECK (seq > 0),
    at              BIGINT NOT NULL,
    payload         TEXT   NOT NULL,
    idempotency_key TEXT,
    batch_last      BIGINT CHECK ((batch_last IS NULL) = (idempotency_key IS NULL)),
    PRIMARY KEY (session_id, seq)
);

CREATE UNIQUE INDEX events_by_key
    ON events (session_id, idempotency_key) WHERE idempotency_key IS NOT NULL;

CREATE FUNCTION events_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'events are never changed, and removed with their session only';
END
$$;

CREATE FUNCTION events_refuse_unless_session_is_gone() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM sessions WHERE id = OLD.session_id) THEN
        RAISE EXCEPTION 'events are removed with their session only';
    END IF;
    RETURN OLD;
END
$$;

CREATE TRIGGER events_are_not_changed BEFORE UPDATE ON events
    FOR EACH ROW EXECUTE FUNCTION events_refuse();

CREATE TRIGGER events_are_not_removed BEFORE DELETE ON events
    FOR EACH ROW EXECUTE FUNCTION events_refuse_unless_session_is_gone();

CREATE TRIGGER events_are_not_truncated BEFORE TRUNCATE ON events
    FOR EACH STATEMENT EXECUTE FUNCTION events_refuse();

-- A row outlives its session, so that the token grows even when the session's id is used again.
CREATE TABLE leases (
    session_id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    token      BIGINT NOT NULL CHECK (token > 0),
    owner      TEXT,
    expires_at BIGINT CHECK ((expires_at IS NULL) = (owner IS NULL))
);
