-- What a model said that candidates are to memories, until their part is settled: a redelivery asks nobody twice.
-- depends: 030_ends

-- migrate: apply
CREATE TABLE resolutions (
    request_id      text        NOT NULL,
    part            integer     NOT NULL,
    namespace       text        NOT NULL,
    conversation_id text        NOT NULL,
    verdicts        jsonb       NOT NULL,
    answered_at     timestamptz NOT NULL,
    PRIMARY KEY (request_id, part)
);
CREATE INDEX resolutions_by_namespace ON resolutions (namespace);
CREATE INDEX resolutions_by_conversation ON resolutions (conversation_id);

-- migrate: rollback
DROP TABLE resolutions;
