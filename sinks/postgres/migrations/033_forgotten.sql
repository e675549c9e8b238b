-- What users asked to have forgotten: candidates of what was said before, which come later, are no memories any more.
-- depends: 032_passage_versions

-- migrate: apply
CREATE TABLE forgotten (
    wish_id         text        PRIMARY KEY,
    namespace       text        NOT NULL,
    conversation_id text        NOT NULL,
    said_at         timestamptz NOT NULL,
    wish            jsonb       NOT NULL
);
CREATE INDEX forgotten_by_namespace ON forgotten (namespace, said_at);
CREATE INDEX forgotten_by_conversation ON forgotten (conversation_id);

-- migrate: rollback
DROP TABLE forgotten;
