-- name: fence
-- The greatest end offset of any erasure per partition: erasures may be applied in any order.
INSERT INTO purges (namespace, purged_at, positions) VALUES ($1, $2, $3)
ON CONFLICT (namespace) DO UPDATE SET
    purged_at = greatest(purges.purged_at, excluded.purged_at),
    positions = (SELECT coalesce(jsonb_object_agg(partition, position), '{}')
                 FROM (SELECT key AS partition, max(value::bigint) AS position
                       FROM (SELECT * FROM jsonb_each_text(purges.positions)
                             UNION ALL SELECT * FROM jsonb_each_text(excluded.positions)) AS noted
                       GROUP BY key) AS furthest)

-- name: fences
SELECT namespace, purged_at FROM purges WHERE namespace = ANY ($1::text[])

-- name: lock_archive
-- Excludes messages and answers from before the fence that would be stored after it.
SELECT pg_advisory_xact_lock(5200001)

-- name: share_archive
SELECT pg_advisory_xact_lock_shared(5200001)

-- name: page
-- Memories of any status: versions of deleted ones have their texts.
SELECT * FROM memories WHERE namespace = $1 ORDER BY memory_id LIMIT $2

-- name: page_of_conversations
-- What comes of the conversations of an erasure alone, and of what was said in them before it; not what others than the erased user
-- said there.
SELECT * FROM memories
WHERE namespace = $1 AND sources <> '[]'
  AND NOT EXISTS (
      SELECT FROM jsonb_array_elements(sources) AS source
      WHERE coalesce((source->>'timestamp')::timestamptz, '-infinity') > $4
         OR said_by_another(source, $3)
         OR NOT EXISTS (SELECT FROM erased_conversations c
                        WHERE c.erasure_id = $3 AND c.conversation_id = source->>'conversation_id'))
ORDER BY memory_id LIMIT $2

-- name: count_vectors
SELECT count(*) FROM embeddings WHERE memory_id = ANY ($1::text[])

-- name: drop_versions
DELETE FROM memory_versions WHERE memory_id = ANY ($1::text[])

-- name: drop_memories
DELETE FROM memories WHERE memory_id = ANY ($1::text[])

-- name: empty_answers
-- Of requests all of whose namespaces were erased since they were made: redelivered, they have nothing to say; of one in which several
-- people speak without what goes to erased namespaces alone. Why one failed may
-- quote what was said, until its dead letter is there. The moment of an erasure is one host's, that of a request another's, whose
-- clock may be ahead: here and in the statements for answers and parked requests, one made up to 5 seconds after counts as made
-- before, unless all that it is about lies behind the erasure.
WITH told AS (
    SELECT request_id, namespaces,
           ARRAY(SELECT fed FROM unnest(namespaces) AS fed
                 WHERE EXISTS (SELECT FROM purges
                               WHERE namespace = standing_for(fed)
                                 AND purged_at >= requested_at
                                     - CASE WHEN first_position >= (positions->>partition::text)::bigint
                                            THEN interval '0' ELSE interval '5 seconds' END)) AS erased
    FROM extractions
    WHERE $1 = ANY (namespaces) AND (answer ? 'proposals' OR failed_reason LIKE '%: %')
)
UPDATE extractions
SET answer = CASE WHEN told.namespaces <@ told.erased THEN answer - 'proposals' ELSE without_erased(answer, told.erased, '{}') END,
    failed_reason = split_part(failed_reason, ': ', 1)
FROM told
WHERE extractions.request_id = told.request_id
  AND (told.namespaces <@ told.erased OR answer @? '$.proposals[*].namespaces')

-- name: drop_parked
-- All that is parked, as what was said since is asked for again by its window; but for what another namespace still waits for, unless
-- several people speak: their window asks anew without the erased one's words. With what of the budgets was kept for those that wait
-- in a batch: nobody else would give it back. No text of a message can hold the name of a field, as its quotes are escaped.
WITH gone AS (
    DELETE FROM parked
    WHERE namespaces @> ARRAY[$1::text]
      AND (position('"speakers":['::bytea IN value) > 0
           OR NOT EXISTS (SELECT FROM unnest(namespaces) AS fed
                          WHERE fed <> $1 AND NOT EXISTS (SELECT FROM purges
                                                          WHERE namespace = standing_for(fed)
                                                            AND purged_at >= requested_at - interval '5 seconds')))
    RETURNING reservation
)
DELETE FROM energy_reservations WHERE reservation_id IN (SELECT reservation FROM gone)

-- name: drop_messages
-- By the earlier of both times: a sender's clock may be ahead, and an archived message was sent before it was archived.
DELETE FROM messages
WHERE (conversation_id, message_id) IN (
    SELECT conversation_id, message_id
    FROM messages
    WHERE (least(said_at, archived_at) <= $1
             OR position < ($9::jsonb->>partition::text)::bigint AND said_at <= $1 + interval '1 day')
      AND ($2::text IS NULL OR tenant_id = $2) AND ($3::text IS NULL OR app_id = $3) AND ($4::text IS NULL OR user_id = $4)
      AND ($5::text IS NULL OR agent_id = $5) AND ($6::text IS NULL OR conversation_id = $6)
      AND ($7::text IS NULL OR mode = $7)
    LIMIT $8)
RETURNING conversation_id

-- name: drop_replies
-- Messages without a user in the user's conversations: they are addressed to the user.
DELETE FROM messages
WHERE (conversation_id, message_id) IN (
    SELECT conversation_id, message_id
    FROM messages
    WHERE user_id IS NULL
      AND (least(said_at, archived_at) <= $1
             OR position < ($9::jsonb->>partition::text)::bigint AND said_at <= $1 + interval '1 day')
      AND conversation_id IN (
          SELECT conversation_id FROM messages
          WHERE user_id = $4 AND ($2::text IS NULL OR tenant_id = $2) AND ($3::text IS NULL OR app_id = $3)
            AND ($5::text IS NULL OR agent_id = $5) AND ($6::text IS NULL OR conversation_id = $6)
            AND ($7::text IS NULL OR mode = $7))
    LIMIT $8)
RETURNING conversation_id

-- name: empty_summaries
UPDATE extractions SET answer = jsonb_set(answer, '{text}', '""')
WHERE conversation_id = ANY ($1::text[]) AND namespaces = '{}' AND answer ? 'text'

-- name: drop_parked_summaries
-- Summaries are not batched, so waiting ones have no reservations.
DELETE FROM parked WHERE conversation_id = ANY ($1::text[]) AND namespaces = '{}'

-- name: drop_findings
-- Findings of dry runs about its memories.
DELETE FROM consolidation_findings WHERE namespace = $1

-- name: drop_resolutions
-- The model is called again if anything is left.
DELETE FROM resolutions WHERE namespace = $1

-- name: drop_kinds
DELETE FROM kinds WHERE namespace = $1

-- name: drop_unused_kinds
-- Without the request, their purpose is unknown.
DELETE FROM kinds WHERE namespace = $1 AND NOT EXISTS (
    SELECT FROM memories
    WHERE namespace = $1 AND (memories.kind = kinds.name OR kinds.name = ANY (memories.kinds)))

-- name: drop_forgotten
-- Wishes to forget, in the users' words.
DELETE FROM forgotten WHERE namespace = $1

-- name: quieten_windows
-- Summaries in markers of windows with these fields.
UPDATE windows SET gaps = (SELECT coalesce(jsonb_agg(gap - 5 - 4 ORDER BY place), '[]')
                           FROM jsonb_array_elements(gaps) WITH ORDINALITY AS each (gap, place))
WHERE gaps <> '[]'
  AND ($1::text IS NULL OR tenant_id = $1) AND ($2::text IS NULL OR app_id = $2) AND ($3::text IS NULL OR user_id = $3)
  AND ($4::text IS NULL OR agent_id = $4) AND ($5::text IS NULL OR conversation_id = $5)
  AND ($6::text IS NULL OR mode = $6)
