-- What model calls consumed, how much of each budget is gone, and what calls under way have reserved of it.
-- depends: 006_parked

-- migrate: apply
CREATE TABLE model_usage (
    usage_id           text        PRIMARY KEY,
    at                 timestamptz NOT NULL,
    operation          text        NOT NULL,
    lane               text        NOT NULL,
    outcome            text        NOT NULL CHECK (outcome IN ('answered', 'failed')),
    provider           text        NOT NULL,
    model              text        NOT NULL,
    calls              integer     NOT NULL,
    input_tokens       bigint      NOT NULL,
    output_tokens      bigint      NOT NULL,
    cache_read_tokens  bigint      NOT NULL,
    cache_write_tokens bigint      NOT NULL,
    cost_micros        bigint,
    batched            boolean     NOT NULL,
    namespaces         text[]      NOT NULL,
    request_id         text,
    conversation_id    text,
    told               boolean     NOT NULL DEFAULT false
);

CREATE INDEX model_usage_by_time ON model_usage (at);
CREATE INDEX model_usage_by_namespace ON model_usage USING gin (namespaces);
CREATE INDEX model_usage_untold ON model_usage (at) WHERE NOT told;

-- Hours and days are those of UTC. A row is read and written under its lock only: it is what makes reserving atomic.
CREATE TABLE energy (
    scope       text        PRIMARY KEY,
    hour        timestamptz NOT NULL DEFAULT '-infinity',
    hour_tokens bigint      NOT NULL DEFAULT 0,
    hour_micros bigint      NOT NULL DEFAULT 0,
    day         timestamptz NOT NULL DEFAULT '-infinity',
    day_tokens  bigint      NOT NULL DEFAULT 0,
    day_micros  bigint      NOT NULL DEFAULT 0
) WITH (fillfactor = 70);

CREATE TABLE energy_reservations (
    scope          text        NOT NULL REFERENCES energy ON DELETE CASCADE,
    reservation_id text        NOT NULL,
    tokens         bigint      NOT NULL,
    micros         bigint      NOT NULL,
    expires_at     timestamptz NOT NULL,
    PRIMARY KEY (scope, reservation_id)
);

-- migrate: rollback
DROP TABLE energy_reservations;
DROP TABLE energy;
DROP TABLE model_usage;
