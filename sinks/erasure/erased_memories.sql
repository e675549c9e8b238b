-- name: record
-- Records memories $2 of namespace $1 as erased, with the messages of all their versions, the wishes that had them
-- forgotten, and the messages that search hides for them. A memory that was erased, imported again and erased again keeps
-- the messages of both.
INSERT INTO erased_memories AS known (memory_id, namespace, messages, erased_at)
SELECT gone, $1::text, coalesce(
           (SELECT jsonb_agg(DISTINCT jsonb_build_object('conversation_id', conversation_id, 'message_id', message_id))
            FROM (SELECT source->>'conversation_id' AS conversation_id, source->>'message_id' AS message_id
                  FROM memory_versions said
                       CROSS JOIN LATERAL jsonb_array_elements(coalesce(said.after->'sources', '[]')) AS source
                  WHERE said.memory_id = gone
                  UNION
                  SELECT cause->>'conversation_id', cause->>'message_id'
                  FROM memory_versions WHERE memory_id = gone AND cause ? 'message_id'
                  UNION
                  SELECT conversation_id, message_id FROM hidden_messages
                  WHERE hidden_by = gone AND namespace = $1::text) AS named), '[]'),
       $3
FROM unnest($2::text[]) AS gone
ON CONFLICT (memory_id) DO UPDATE SET
    namespace = excluded.namespace, erased_at = excluded.erased_at,
    messages = coalesce((SELECT jsonb_agg(DISTINCT said)
                         FROM jsonb_array_elements(known.messages || excluded.messages) AS said), '[]')
RETURNING memory_id, messages

-- name: held
SELECT (SELECT count(*) FROM memory_versions WHERE memory_id = $1) AS versions,
       (SELECT count(*) FROM embeddings WHERE memory_id = $1) AS vectors,
       (SELECT count(DISTINCT (source->>'conversation_id', source->>'message_id'))
        FROM memory_versions CROSS JOIN LATERAL jsonb_array_elements(coalesce(after->'sources', '[]')) AS source
        WHERE memory_id = $1) AS source_messages

-- name: restore
INSERT INTO erased_memories AS known (memory_id, namespace, messages, erased_at) VALUES ($1, $2, $3, $4)
ON CONFLICT (memory_id) DO UPDATE SET
    namespace = excluded.namespace, erased_at = greatest(known.erased_at, excluded.erased_at),
    messages = coalesce((SELECT jsonb_agg(DISTINCT said)
                         FROM jsonb_array_elements(known.messages || excluded.messages) AS said), '[]')

-- name: hide
-- Hides the messages of erased memory $1 from search.
INSERT INTO hidden_messages (namespace, conversation_id, message_id, hidden_by, wish_id)
SELECT DISTINCT namespace, said->>'conversation_id', said->>'message_id', memory_id, memory_id
FROM erased_memories CROSS JOIN LATERAL jsonb_array_elements(messages) AS said
WHERE memory_id = $1
ON CONFLICT DO NOTHING

-- name: among
-- Those of these messages from which a memory of namespace $1 was erased.
SELECT said.conversation_id, said.message_id
FROM unnest($2::text[], $3::text[]) AS said (conversation_id, message_id)
WHERE EXISTS (SELECT FROM erased_memories
              WHERE namespace = $1 AND messages @> jsonb_build_array(
                  jsonb_build_object('conversation_id', said.conversation_id, 'message_id', said.message_id)))

-- name: count_hidden
-- Counts those of these messages that searches leave out.
SELECT count(*) FROM unnest($1::text[], $2::text[]) AS said (conversation_id, message_id)
WHERE EXISTS (SELECT FROM hidden_messages hidden
              WHERE hidden.conversation_id = said.conversation_id AND hidden.message_id = said.message_id
                AND hidden.namespace NOT LIKE '~%')

-- name: of_erasure
-- The messages of memory $2 of namespace $1, and of those that were erased with it.
SELECT DISTINCT said->>'conversation_id' AS conversation_id, said->>'message_id' AS message_id
FROM erased_memories named
     JOIN erased_memories gone USING (namespace, erased_at)
     CROSS JOIN LATERAL jsonb_array_elements(gone.messages) AS said
WHERE named.namespace = $1 AND named.memory_id = $2

-- name: of_namespace
SELECT DISTINCT said->>'conversation_id' AS conversation_id, said->>'message_id' AS message_id
FROM erased_memories CROSS JOIN LATERAL jsonb_array_elements(messages) AS said
WHERE namespace = $1

-- name: replayed
-- Memories of shadow $1, of any status, that come from one of these messages. Reads each version once.
WITH found AS MATERIALIZED (
    SELECT DISTINCT version.memory_id
    FROM memory_versions version
         CROSS JOIN LATERAL jsonb_array_elements(coalesce(version.after->'sources', '[]')) AS source
         JOIN unnest($2::text[], $3::text[]) AS said (conversation_id, message_id)
              ON source->>'conversation_id' = said.conversation_id AND source->>'message_id' = said.message_id
    WHERE version.namespace = $1
)
SELECT memories.* FROM memories JOIN found USING (memory_id) WHERE namespace = $1 ORDER BY memory_id

-- name: drop_proposals
-- Removes what models proposed from these messages from all stored answers, or from the answer to request $1. Locks in the
-- order of the ids, as other erasures may change the same answers.
WITH said AS (
    SELECT conversation_id, array_agg(message_id) AS message_ids
    FROM unnest($2::text[], $3::text[]) AS named (conversation_id, message_id) GROUP BY conversation_id
), affected AS (
    SELECT request_id, message_ids
    FROM extractions JOIN said USING (conversation_id)
    WHERE ($1::text IS NULL OR request_id = $1) AND answer ? 'proposals'
      AND EXISTS (SELECT FROM jsonb_array_elements(answer->'proposals') AS proposal
                  WHERE proposal->'message_ids' ?| message_ids)
    ORDER BY request_id FOR UPDATE OF extractions
)
UPDATE extractions
SET answer = jsonb_set(answer, '{proposals}', coalesce(
        (SELECT jsonb_agg(proposal ORDER BY place)
         FROM jsonb_array_elements(answer->'proposals') WITH ORDINALITY AS each (proposal, place)
         WHERE NOT coalesce(proposal->'message_ids' ?| affected.message_ids, false)), '[]'))
FROM affected WHERE extractions.request_id = affected.request_id

-- name: drop_findings
-- Deletes the findings of dry runs about memories $4, or about these messages.
DELETE FROM consolidation_findings
WHERE namespace = $1
  AND (memory_id = ANY ($4::text[])
       OR EXISTS (SELECT FROM unnest($2::text[], $3::text[]) AS said (conversation_id, message_id)
                  WHERE said.conversation_id = consolidation_findings.conversation_id
                    AND said.message_id = ANY (consolidation_findings.message_ids)))

-- name: drop_resolutions
-- Deletes the verdicts of models on unsettled candidates of these conversations. The model is called again for them.
DELETE FROM resolutions WHERE namespace = $1 AND conversation_id = ANY ($2::text[])

-- name: drop_namespace
-- Deletes what is kept of memories that were erased until the purge at $2.
DELETE FROM erased_memories WHERE namespace = $1 AND erased_at <= $2
