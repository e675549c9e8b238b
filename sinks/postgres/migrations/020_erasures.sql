-- Erasures of users, conversations and namespaces: how far each is, and what keeps older input out.
-- depends: 019_runs

-- migrate: apply
-- Where the messages topic ended: a sender's clock may have been ahead.
ALTER TABLE purges ADD COLUMN positions jsonb NOT NULL DEFAULT '{}';
CREATE INDEX purges_by_time ON purges (purged_at);

CREATE TABLE erasures (
    erasure_id      text        PRIMARY KEY,
    kind            text        NOT NULL CHECK (kind IN ('user', 'conversation', 'namespace')),
    user_id         text,
    tenant_id       text,
    app_id          text,
    conversation_id text,
    namespace       text,
    at              timestamptz NOT NULL,
    positions       jsonb       NOT NULL DEFAULT '{}',
    actor           text        NOT NULL,
    reason          text,
    lease_until     timestamptz,
    completed_at    timestamptz,
    remains         jsonb       NOT NULL DEFAULT '[]'
);

CREATE INDEX erasures_by_time ON erasures (at);
CREATE INDEX erasures_pending ON erasures (at) WHERE completed_at IS NULL;
CREATE INDEX erasures_of_users ON erasures (user_id) WHERE kind = 'user';

-- Whatever comes of a conversation says its id, and seldom whose it was.
CREATE TABLE erased_conversations (
    conversation_id text NOT NULL,
    erasure_id      text NOT NULL REFERENCES erasures ON DELETE CASCADE,
    PRIMARY KEY (conversation_id, erasure_id)
);

CREATE INDEX erased_conversations_of ON erased_conversations (erasure_id);

-- `purge`: the whole namespace goes; `forget`: what comes of the erased conversations alone. `command_id` is that of the command
-- to its curator.
CREATE TABLE erased_namespaces (
    erasure_id text        NOT NULL REFERENCES erasures ON DELETE CASCADE,
    namespace  text        NOT NULL,
    how        text        NOT NULL CHECK (how IN ('purge', 'forget')),
    command_id text        NOT NULL,
    sent_at    timestamptz,
    done_at    timestamptz,
    memories   bigint      NOT NULL DEFAULT 0,
    versions   bigint      NOT NULL DEFAULT 0,
    vectors    bigint      NOT NULL DEFAULT 0,
    PRIMARY KEY (erasure_id, namespace)
);

-- The answer of each partition's owner: its windows are empty, in the table, its changelog and the owner's own store.
CREATE TABLE erased_windows (
    erasure_id text        NOT NULL REFERENCES erasures ON DELETE CASCADE,
    partition  integer     NOT NULL,
    windows    bigint      NOT NULL,
    messages   bigint      NOT NULL,
    at         timestamptz NOT NULL,
    PRIMARY KEY (erasure_id, partition)
);

-- What went of everything else, by store.
CREATE TABLE erased_rows (
    erasure_id text        NOT NULL REFERENCES erasures ON DELETE CASCADE,
    store      text        NOT NULL,
    removed    bigint      NOT NULL,
    at         timestamptz NOT NULL,
    PRIMARY KEY (erasure_id, store)
);

-- migrate: rollback
DROP TABLE erased_rows;
DROP TABLE erased_windows;
DROP TABLE erased_namespaces;
DROP TABLE erased_conversations;
DROP TABLE erasures;
DROP INDEX purges_by_time;
ALTER TABLE purges DROP COLUMN positions;
