-- Generations: what replays remember in the shadow of the memories that there are, and what was switched because of them.
-- depends: 016_windows_opened

-- migrate: apply
CREATE TABLE generations (
    generation_id text        PRIMARY KEY,
    plan          jsonb       NOT NULL,
    status        text        NOT NULL CHECK (status IN ('building', 'ready', 'cutover', 'undone')),
    created_at    timestamptz NOT NULL,
    changed_at    timestamptz NOT NULL
);

-- The conversations that a generation goes through, in the order of their latest messages; `ranges` are the positions of the
-- messages that were replayed, first and last of each run. What lies in Kafka is planned as it is read.
CREATE TABLE generation_conversations (
    generation_id   text        NOT NULL REFERENCES generations ON DELETE CASCADE,
    conversation_id text        NOT NULL,
    last_said_at    timestamptz NOT NULL,
    ranges          jsonb       NOT NULL DEFAULT '[]',
    slices          integer     NOT NULL DEFAULT 0,
    failed          integer     NOT NULL DEFAULT 0,
    failure         text,
    done_at         timestamptz,
    PRIMARY KEY (generation_id, conversation_id)
);

CREATE INDEX generation_conversations_to_do ON generation_conversations (generation_id, last_said_at, conversation_id)
    WHERE done_at IS NULL;

-- The namespaces that its conversations feed, as they are called outside; the changes that its cutover made in each.
CREATE TABLE generation_namespaces (
    generation_id  text   NOT NULL REFERENCES generations ON DELETE CASCADE,
    namespace      text   NOT NULL,
    first_sequence bigint,
    last_sequence  bigint,
    PRIMARY KEY (generation_id, namespace)
);

-- The namespace that a shadow stands for; any other stands for itself. schemas.shadows says the same.
CREATE FUNCTION standing_for(namespace text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN regexp_replace(namespace, '^~[0-9a-f]{8}/', '');

-- migrate: rollback
DROP FUNCTION standing_for;
DROP TABLE generation_namespaces;
DROP TABLE generation_conversations;
DROP TABLE generations;
