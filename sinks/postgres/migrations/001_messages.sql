-- The short-term archive of what was said, and the origins of the consumer groups.
-- depends:

-- migrate: apply
CREATE TABLE messages (
    conversation_id text        NOT NULL,
    message_id      text        NOT NULL,
    partition       integer     NOT NULL,
    position        bigint      NOT NULL,
    tenant_id       text,
    app_id          text,
    user_id         text,
    agent_id        text,
    mode            text,
    role            text        NOT NULL,
    content         text        NOT NULL,
    said_at         timestamptz NOT NULL,
    body            jsonb       NOT NULL,
    archived_at     timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (conversation_id, message_id)
);

CREATE INDEX messages_by_position ON messages (conversation_id, position);

CREATE TABLE origins (
    consumer_group text        NOT NULL,
    topic          text        NOT NULL,
    partition      integer     NOT NULL,
    origin_offset  bigint      NOT NULL,
    fixed_at       timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (consumer_group, topic, partition)
);

-- migrate: rollback
DROP TABLE origins;
DROP TABLE messages;
