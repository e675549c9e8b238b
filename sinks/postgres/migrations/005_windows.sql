-- What others may know of windows, what left their contexts, and how each model counts tokens.
-- depends: 004_outbox

-- migrate: apply
-- Each checkpoint rewrites the rows of its windows: room on the page, and no index on what changes, spare the indexes.
-- A conversation whose events came to two partitions has two windows, and their revisions do not compare. Keys begin with
-- the conversation: whoever reads knows that, and not the partition.
CREATE TABLE windows (
    conversation_id text        NOT NULL,
    tenant_id       text,
    app_id          text,
    user_id         text,
    agent_id        text,
    mode            text,
    partition       integer     NOT NULL,
    source          text        NOT NULL,
    revision        bigint      NOT NULL,
    policy          text        NOT NULL,
    phase           text        NOT NULL CHECK (phase IN ('open', 'ended', 'forgotten')),
    model           text,
    statistics      jsonb       NOT NULL,
    gaps            jsonb       NOT NULL,
    extracted_to    bigint      NOT NULL,
    cleared_at      timestamptz,
    updated_at      timestamptz NOT NULL,
    PRIMARY KEY (conversation_id, partition)
) WITH (fillfactor = 70);

-- One column each: identifiers may have 1,024 bytes, and three of them are more than an index entry holds.
CREATE INDEX windows_by_user ON windows (user_id) WHERE user_id IS NOT NULL;
CREATE INDEX windows_by_app ON windows (app_id) WHERE app_id IS NOT NULL;

-- Numbers begin again when a forgotten window is reopened: the time tells the prunings apart.
CREATE TABLE window_prunings (
    conversation_id text        NOT NULL,
    partition       integer     NOT NULL,
    at              timestamptz NOT NULL,
    number          bigint      NOT NULL,
    cause           text        NOT NULL,
    level           text        NOT NULL,
    tokens_before   bigint      NOT NULL,
    tokens_after    bigint      NOT NULL,
    removed         jsonb       NOT NULL,
    PRIMARY KEY (conversation_id, partition, at, number),
    FOREIGN KEY (conversation_id, partition) REFERENCES windows ON DELETE CASCADE
);

CREATE TABLE calibrations (
    model      text             PRIMARY KEY,
    mean       double precision NOT NULL,
    observed   bigint           NOT NULL,
    updated_at timestamptz      NOT NULL
);

-- migrate: rollback
DROP TABLE calibrations;
DROP TABLE window_prunings;
DROP TABLE windows;
