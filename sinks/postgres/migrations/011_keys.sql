-- Keys of the API, without their secrets, and who did what an administrator may do.
-- depends: 010_purges

-- migrate: apply
CREATE TABLE keys (
    key_id       text        PRIMARY KEY,
    name         text        NOT NULL,
    hash         bytea       NOT NULL,
    grants       jsonb       NOT NULL,
    created_at   timestamptz NOT NULL,
    expires_at   timestamptz,
    revoked_at   timestamptz,
    last_used_at timestamptz
);

-- A name in a log or in the audit means one key.
CREATE UNIQUE INDEX keys_by_name ON keys (name) WHERE revoked_at IS NULL;

CREATE TABLE audit (
    id      bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at      timestamptz NOT NULL,
    actor   text        NOT NULL,
    action  text        NOT NULL,
    subject text        NOT NULL,
    details jsonb       NOT NULL
);

CREATE INDEX audit_by_time ON audit (at);

-- migrate: rollback
DROP TABLE audit;
DROP TABLE keys;
