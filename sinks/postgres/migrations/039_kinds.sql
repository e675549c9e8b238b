-- Kinds of memories that were made on the fly, with what says what belongs to them.
-- depends: 037_hidden_messages

-- migrate: apply
CREATE TABLE kinds (
    namespace   text        NOT NULL,
    name        text        NOT NULL,
    description text        NOT NULL,
    icon        text        NOT NULL,
    made_by     text        NOT NULL,
    made_at     timestamptz NOT NULL,
    PRIMARY KEY (namespace, name)
);

-- migrate: rollback
DROP TABLE kinds;
