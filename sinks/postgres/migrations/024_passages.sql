-- What was said, made searchable: the words of each passage. Its text rests in `messages`, its vector in Qdrant.
-- depends: 023_discarding

-- migrate: apply
CREATE TABLE passages (
    passage_id      uuid        PRIMARY KEY,
    namespace       text        NOT NULL,
    conversation_id text        NOT NULL,
    message_id      text        NOT NULL,
    piece           smallint    NOT NULL,
    ordinal         integer     NOT NULL,
    said_at         timestamptz NOT NULL,
    speaker         text        NOT NULL,
    asks            boolean     NOT NULL,
    terms           integer[]   NOT NULL, -- hashes of namespace and stem, one for each word that says something
    FOREIGN KEY (conversation_id, message_id) REFERENCES messages ON DELETE CASCADE
);

CREATE INDEX passages_by_message ON passages (conversation_id, message_id);
CREATE INDEX passages_by_namespace ON passages (namespace, conversation_id, ordinal) INCLUDE (said_at);
CREATE INDEX passages_by_terms ON passages USING gin (terms);

-- Points that have to leave Qdrant: written with the deletion of the row, whatever deletes it.
CREATE TABLE passage_removals (
    passage_id uuid        PRIMARY KEY,
    removed_at timestamptz NOT NULL DEFAULT now()
);

CREATE FUNCTION note_passage_removals() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO passage_removals (passage_id) SELECT passage_id FROM gone ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;

CREATE TRIGGER passages_removed AFTER DELETE ON passages
    REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION note_passage_removals();

-- How far each backfill has come: conversations behind it are done.
CREATE TABLE passage_backfill (
    singleton       boolean     PRIMARY KEY DEFAULT true CHECK (singleton),
    conversation_id text        NOT NULL,
    started_at      timestamptz NOT NULL DEFAULT now()
);

-- migrate: rollback
DROP TABLE passage_backfill;
DROP TABLE passages;
DROP FUNCTION note_passage_removals();
DROP TABLE passage_removals;
