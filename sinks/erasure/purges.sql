-- name: fence
-- Keeps the latest time and, per partition, the greatest end offset of all erasures of a namespace: erasures may be
-- applied in any order.
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
-- The exclusive archive lock. Writers share it while they check fences and store messages or answers, so none can check
-- before a fence is set and store after it.
SELECT pg_advisory_xact_lock(5200001)

-- name: share_archive
SELECT pg_advisory_xact_lock_shared(5200001)

-- name: page
-- A page of a namespace's memories, of any status: versions of deleted memories have their texts.
SELECT * FROM memories WHERE namespace = $1 ORDER BY memory_id LIMIT $2

-- name: page_of_conversations
-- A page of $2 memories of namespace $1 all of whose sources the erasure $3 covers: messages of its conversations up to
-- its time $4, except messages that name a user other than the erased one. The versions of a deleted memory have its
-- sources and its text.
SELECT memories.*
FROM memories CROSS JOIN LATERAL (
    SELECT CASE status WHEN 'deleted' THEN (SELECT before->'sources' FROM memory_versions v
                                            WHERE v.memory_id = memories.memory_id AND before->>'status' <> 'deleted'
                                            ORDER BY v.version DESC LIMIT 1)
                       ELSE sources END AS sources) AS content
WHERE namespace = $1 AND content.sources <> '[]'
  AND NOT EXISTS (
      SELECT FROM jsonb_array_elements(content.sources) AS source
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
-- Removes proposals from the stored answers to requests that feed namespace $1, so that a redelivery proposes nothing:
-- all proposals, if all namespaces of the request were erased since it was made; otherwise those for erased namespaces
-- alone. Also cuts the details off reasons of failures, which may quote messages until their dead letter is written. An
-- erasure and a request have their times from different hosts, whose clocks may differ: here and in the statements for
-- answers, a request made up to 5 seconds after an erasure counts as made before it, unless all its messages lie behind
-- the erasure's end offset. For parked requests the 5 seconds always count.
WITH affected AS (
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
SET answer = CASE WHEN affected.namespaces <@ affected.erased THEN answer - 'proposals' ELSE without_erased(answer, affected.erased, '{}') END,
    failed_reason = split_part(failed_reason, ': ', 1)
FROM affected
WHERE extractions.request_id = affected.request_id
  AND (affected.namespaces <@ affected.erased OR answer @? '$.proposals[*].namespaces')

-- name: drop_parked
-- Deletes the parked requests that feed namespace $1, with the budget reservations of those in a batch, which nobody
-- else would release. Requests made after the erasure are deleted too: windows request the extraction of later messages
-- again. A request that also feeds a namespace without an erasure stays, unless several people speak in it: its window
-- requests it again without the erased user's messages. The search for the field `speakers` in the bytes is exact, as
-- quotes in the texts of messages are escaped.
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
-- Deletes up to $8 messages of a scope ($2 to $7) from before a fence: up to its time $1, or before its end offsets $9
-- and at most one day after $1. The earlier of the times of the message and of archiving counts, because a sender's
-- clock may be ahead.
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
-- Deletes up to $8 messages without a user from before a fence ($1, $9), in the conversations of a user's scope ($2 to
-- $7): they are addressed to the user.
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
-- Deletes parked requests for summaries. Summaries are not batched, so they have no reservations.
DELETE FROM parked WHERE conversation_id = ANY ($1::text[]) AND namespaces = '{}'

-- name: drop_findings
-- Deletes the findings of dry runs about the namespace's memories.
DELETE FROM consolidation_findings WHERE namespace = $1

-- name: drop_resolutions
-- Deletes the verdicts of models on unsettled candidates. The model is called again for candidates that remain.
DELETE FROM resolutions WHERE namespace = $1

-- name: drop_kinds
DELETE FROM kinds WHERE namespace = $1

-- name: drop_unused_kinds
-- Deletes kinds that no memory has any more: what they were made for may have been erased.
DELETE FROM kinds WHERE namespace = $1 AND NOT EXISTS (
    SELECT FROM memories
    WHERE namespace = $1 AND (memories.kind = kinds.name OR kinds.name = ANY (memories.kinds)))

-- name: drop_forgotten
-- Deletes wishes to forget, which quote users.
DELETE FROM forgotten WHERE namespace = $1

-- name: quieten_windows
-- Removes the summaries from the markers of a scope's windows: elements 4 and 5 of a gap.
UPDATE windows SET gaps = (SELECT coalesce(jsonb_agg(gap - 5 - 4 ORDER BY place), '[]')
                           FROM jsonb_array_elements(gaps) WITH ORDINALITY AS each (gap, place))
WHERE gaps <> '[]'
  AND ($1::text IS NULL OR tenant_id = $1) AND ($2::text IS NULL OR app_id = $2) AND ($3::text IS NULL OR user_id = $3)
  AND ($4::text IS NULL OR agent_id = $4) AND ($5::text IS NULL OR conversation_id = $5)
  AND ($6::text IS NULL OR mode = $6)
