-- Memories that were erased one by one, with the ids of their source messages: no memory is made of these messages again.
-- depends: 046_passage_sources

-- migrate: apply
CREATE TABLE erased_memories (
    memory_id text        PRIMARY KEY,
    namespace text        NOT NULL,
    messages  jsonb       NOT NULL, -- [{"conversation_id": ..., "message_id": ...}]
    erased_at timestamptz NOT NULL
);
CREATE INDEX erased_memories_by_namespace ON erased_memories (namespace);
CREATE INDEX erased_memories_by_message ON erased_memories USING gin (messages jsonb_path_ops);

-- migrate: rollback
DROP TABLE erased_memories;
