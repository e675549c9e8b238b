-- Requests that wait for long, and the batches in which some of them lie with a provider.
-- depends: 005_windows

-- migrate: apply
-- `forming`: nothing is sent yet. `submitting`: sent, perhaps; the provider's id is not known. Rows of `ended` batches are kept
-- for a while: what the provider lists is compared with them.
CREATE TABLE batches (
    batch_key    text        PRIMARY KEY,
    state        text        NOT NULL CHECK (state IN ('forming', 'submitting', 'submitted', 'ended')),
    provider_id  text        UNIQUE,
    requests     integer     NOT NULL,
    looks        integer     NOT NULL DEFAULT 0,
    look_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
    formed_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    sent_at      timestamptz,
    ended_at     timestamptz,
    lease_owner  text,
    lease_until  timestamptz,
    CHECK (state IN ('forming', 'submitting') OR provider_id IS NOT NULL OR state = 'ended')
);

CREATE INDEX batches_to_look_at ON batches (look_at) WHERE state <> 'ended';

-- The record is kept whole, as it came: a dead letter can be made of it. `batched`: waits to be sent in a batch, or lies in one.
-- `related`: the memories that a batch's prompt shows, in their order. `reservation`: what of the budgets is kept for it.
CREATE TABLE parked (
    request_id      text        PRIMARY KEY,
    conversation_id text        NOT NULL,
    namespaces      text[]      NOT NULL,
    lane            text        NOT NULL CHECK (lane IN ('live', 'background')),
    reason          text        NOT NULL,
    tries           integer     NOT NULL DEFAULT 0,
    not_before      timestamptz NOT NULL,
    deadline        timestamptz NOT NULL,
    parked_at       timestamptz NOT NULL DEFAULT clock_timestamp(),
    batched         boolean     NOT NULL DEFAULT false,
    batch_key       text        REFERENCES batches ON DELETE SET NULL,
    related         text[]      NOT NULL DEFAULT '{}',
    reservation     text,
    lease_owner     text,
    lease_until     timestamptz,
    topic           text        NOT NULL,
    partition       integer     NOT NULL,
    position        bigint      NOT NULL,
    timestamp_ms    bigint      NOT NULL,
    key             bytea,
    value           bytea       NOT NULL,
    headers         jsonb       NOT NULL
);

CREATE INDEX parked_in_turn ON parked (lane, not_before) WHERE NOT batched;
CREATE INDEX parked_by_deadline ON parked (deadline) WHERE lane = 'background';
CREATE INDEX parked_for_a_batch ON parked (parked_at) WHERE batched AND batch_key IS NULL;
CREATE INDEX parked_by_batch ON parked (batch_key) WHERE batch_key IS NOT NULL;
-- What is erased is erased here as well.
CREATE INDEX parked_by_conversation ON parked (conversation_id);
CREATE INDEX parked_by_namespace ON parked USING gin (namespaces);

-- migrate: rollback
DROP TABLE parked;
DROP TABLE batches;
