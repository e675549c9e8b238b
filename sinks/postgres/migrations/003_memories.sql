-- Memories, their versions and vectors, the counters of their namespaces, and the commands that were carried out.
-- depends: 002_extractions

-- migrate: apply
CREATE TABLE namespaces (
    namespace text   PRIMARY KEY,
    sequence  bigint NOT NULL DEFAULT 0,
    epoch     bigint NOT NULL DEFAULT 0
);

-- The columns carry the names of schemas.memories.Memory: rows are written from its JSON by name.
CREATE TABLE memories (
    memory_id           text             PRIMARY KEY,
    namespace           text             NOT NULL REFERENCES namespaces,
    kind                text             NOT NULL,
    kinds               text[]           NOT NULL,
    tags                text[]           NOT NULL,
    text                text             NOT NULL,
    normalised          text             NOT NULL,
    context             text,
    full_text           text,
    language            text,
    importance          double precision NOT NULL,
    confidence          double precision NOT NULL,
    version             integer          NOT NULL,
    sequence            bigint           NOT NULL,
    status              text             NOT NULL CHECK (status IN ('active', 'superseded', 'deleted')),
    created_at          timestamptz      NOT NULL,
    updated_at          timestamptz      NOT NULL,
    created_by          text             NOT NULL,
    event_time          timestamptz,
    valid_from          timestamptz,
    valid_until         timestamptz,
    superseded_by       text,
    supersedes          text,
    reinforcement_count integer          NOT NULL,
    last_reinforced_at  timestamptz,
    sources             jsonb            NOT NULL
);

CREATE INDEX memories_live_by_text ON memories (namespace, md5(normalised)) WHERE status = 'active';
CREATE INDEX memories_by_namespace ON memories (namespace, memory_id);
CREATE INDEX memories_by_importance ON memories (namespace, importance DESC, memory_id) WHERE status = 'active';

-- Apart from the memories: reinforcing one must not rewrite its 1.5 kB of vector.
CREATE TABLE embeddings (
    memory_id text  PRIMARY KEY REFERENCES memories ON DELETE CASCADE,
    model     text  NOT NULL,
    vector    bytea NOT NULL
);

CREATE TABLE memory_versions (
    memory_id text        NOT NULL,
    version   integer     NOT NULL,
    namespace text        NOT NULL,
    change    text        NOT NULL,
    before    jsonb,
    after     jsonb       NOT NULL,
    cause     jsonb       NOT NULL,
    at        timestamptz NOT NULL,
    PRIMARY KEY (memory_id, version)
);

-- Senders choose command ids: one namespace's must not answer for another's.
CREATE TABLE commands (
    namespace  text        NOT NULL,
    command_id text        NOT NULL,
    outcome    jsonb       NOT NULL,
    at         timestamptz NOT NULL,
    PRIMARY KEY (namespace, command_id)
);

-- migrate: rollback
DROP TABLE commands;
DROP TABLE memory_versions;
DROP TABLE embeddings;
DROP TABLE memories;
DROP TABLE namespaces;
