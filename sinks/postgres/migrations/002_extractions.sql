-- One row per slice sent to a model, with its answer, and one per part that the curator has settled.
-- depends: 001_messages

-- migrate: apply
CREATE TABLE extractions (
    request_id      text        PRIMARY KEY,
    conversation_id text        NOT NULL,
    partition       integer     NOT NULL,
    first_position  bigint,
    last_position   bigint,
    policy          text        NOT NULL,
    policy_version  integer     NOT NULL,
    namespaces      text[]      NOT NULL DEFAULT '{}',
    requested_at    timestamptz NOT NULL DEFAULT now(),
    lease_owner     text,
    lease_until     timestamptz,
    answer          jsonb,
    provider        text,
    model           text,
    usage           jsonb,
    parts           integer,
    stored_at       timestamptz,
    completed_at    timestamptz,
    failed_at       timestamptz,
    failed_reason   text
);

CREATE INDEX extractions_by_conversation ON extractions (conversation_id, first_position);

CREATE TABLE extraction_parts (
    request_id   text        NOT NULL REFERENCES extractions ON DELETE CASCADE,
    part         integer     NOT NULL,
    namespace    text        NOT NULL,
    outcome      jsonb       NOT NULL,
    committed_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (request_id, part)
);

-- migrate: rollback
DROP TABLE extraction_parts;
DROP TABLE extractions;
