-- Namespaces that were erased, and since when nothing older comes back into them.
-- depends: 009_expiry

-- migrate: apply
CREATE TABLE purges (
    namespace text        PRIMARY KEY,
    purged_at timestamptz NOT NULL
);

ALTER TABLE namespaces DROP COLUMN epoch;
CREATE INDEX extractions_by_namespace ON extractions USING gin (namespaces);
CREATE INDEX messages_by_owner ON messages (user_id, app_id);
CREATE INDEX messages_by_app ON messages (app_id, said_at);
CREATE INDEX messages_by_agent ON messages (agent_id, said_at);

-- migrate: rollback
DROP INDEX messages_by_agent;
DROP INDEX messages_by_app;
DROP INDEX messages_by_owner;
DROP INDEX extractions_by_namespace;
ALTER TABLE namespaces ADD COLUMN epoch bigint NOT NULL DEFAULT 0;
DROP TABLE purges;
