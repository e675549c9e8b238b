-- What Qdrant and Kafka have yet to be told.
-- depends: 003_memories

-- migrate: apply
CREATE TABLE outbox (
    id         bigserial   PRIMARY KEY,
    namespace  text        NOT NULL,
    target     text        NOT NULL CHECK (target IN ('vector', 'kafka')),
    topic      text,
    key        bytea,
    partition  integer,
    headers    jsonb       NOT NULL DEFAULT '[]',
    payload    bytea,
    created_at timestamptz NOT NULL DEFAULT now(),
    CHECK (target = 'vector' OR topic IS NOT NULL)
);

CREATE INDEX outbox_in_order ON outbox (namespace, id);
CREATE INDEX outbox_by_age ON outbox (created_at);

-- migrate: rollback
DROP TABLE outbox;
