-- name: hide
INSERT INTO hidden_messages (namespace, conversation_id, message_id, hidden_by, wish_id)
SELECT DISTINCT $1::text, said.conversation_id, said.message_id, said.hidden_by, said.wish_id
FROM unnest($2::text[], $3::text[], $4::text[], $5::text[]) AS said (conversation_id, message_id, hidden_by, wish_id)
ON CONFLICT DO NOTHING

-- name: hide_sources
-- Hides all source messages of all versions of forgotten memories.
INSERT INTO hidden_messages (namespace, conversation_id, message_id, hidden_by, wish_id)
SELECT DISTINCT said.namespace, source->>'conversation_id', source->>'message_id', said.memory_id, gone.wish_id
FROM unnest($1::text[], $2::text[]) AS gone (memory_id, wish_id)
     JOIN memory_versions said USING (memory_id)
     CROSS JOIN LATERAL jsonb_array_elements(coalesce(said.after->'sources', '[]')) AS source
ON CONFLICT DO NOTHING

-- name: show_sources
-- Shows the source messages of restored memories again. When the last memory of a wish is restored, the message with
-- the wish is shown too. What the erasure of a memory hid stays hidden, also if the memory was imported again.
WITH back AS (
    DELETE FROM hidden_messages
    WHERE hidden_by = ANY ($1::text[]) AND NOT EXISTS (SELECT FROM erased_memories WHERE memory_id = hidden_by)
    RETURNING wish_id
)
DELETE FROM hidden_messages wish USING back
WHERE wish.hidden_by = back.wish_id AND NOT EXISTS (
    SELECT FROM hidden_messages other
    WHERE other.wish_id = back.wish_id AND other.hidden_by <> back.wish_id AND other.hidden_by <> ALL ($1::text[])
)

-- name: show
-- What the erasure of a memory hid stays hidden.
DELETE FROM hidden_messages
WHERE namespace = $1 AND hidden_by = $2 AND NOT EXISTS (SELECT FROM erased_memories WHERE memory_id = hidden_by)

-- name: adopt
-- Hides messages that are hidden in a shadow, at the cutover of its generation.
INSERT INTO hidden_messages (namespace, conversation_id, message_id, hidden_by, wish_id)
SELECT DISTINCT $2::text, conversation_id, message_id, $3::text, wish_id FROM hidden_messages WHERE namespace = $1
ON CONFLICT DO NOTHING

-- name: drop_namespace
-- What memories hid that were erased after the purge stays hidden: `erased_memories` still has them.
DELETE FROM hidden_messages
WHERE namespace = $1 AND NOT EXISTS (SELECT FROM erased_memories WHERE memory_id = hidden_by)

-- name: restore
-- Restores hidden messages from versions, after a rebuild: the messages of memories that wishes deleted and nothing
-- restored since, and the messages with the wishes.
INSERT INTO hidden_messages (namespace, conversation_id, message_id, hidden_by, wish_id)
SELECT DISTINCT gone.namespace, named.conversation_id, named.message_id, named.hidden_by, gone.cause->>'wish_id'
FROM memory_versions gone
     JOIN memories ON memories.memory_id = gone.memory_id AND memories.status IN ('deleted', 'expired')
     CROSS JOIN LATERAL (
         SELECT source->>'conversation_id' AS conversation_id, source->>'message_id' AS message_id, gone.memory_id AS hidden_by
         FROM memory_versions said
              CROSS JOIN LATERAL jsonb_array_elements(coalesce(said.after->'sources', '[]')) AS source
         WHERE said.memory_id = gone.memory_id
         UNION
         SELECT again->>'conversation_id', again->>'message_id', gone.memory_id
         FROM jsonb_array_elements(coalesce(gone.cause->'said_again', '[]')) AS again
         UNION
         SELECT gone.cause->>'conversation_id', gone.cause->>'message_id', gone.cause->>'wish_id'
         WHERE gone.cause ? 'message_id'
     ) AS named
WHERE gone.cause ? 'wish_id' AND gone.change IN ('deleted', 'expired') AND NOT EXISTS (
    SELECT FROM memory_versions later
    WHERE later.memory_id = gone.memory_id AND later.version > gone.version AND later.after->>'status' = 'active'
)
ON CONFLICT DO NOTHING
