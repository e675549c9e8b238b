-- name: begin
INSERT INTO erasures (erasure_id, kind, user_id, tenant_id, app_id, conversation_id, namespace, at, positions, actor, reason)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
ON CONFLICT DO NOTHING
RETURNING true

-- name: find_conversations
-- Adds the conversations of erasure $1. For a user these are all in which the user wrote or which have a window of the
-- user; the sweeps delete from them the user's messages and messages without a user, which may repeat the former.
INSERT INTO erased_conversations (conversation_id, erasure_id)
SELECT said.conversation_id, e.erasure_id
FROM erasures e, LATERAL (
    SELECT conversation_id FROM messages
    WHERE user_id = e.user_id AND (e.tenant_id IS NULL OR tenant_id = e.tenant_id) AND (e.app_id IS NULL OR app_id = e.app_id)
    UNION
    SELECT conversation_id FROM windows
    WHERE user_id = e.user_id AND (e.tenant_id IS NULL OR tenant_id = e.tenant_id) AND (e.app_id IS NULL OR app_id = e.app_id)
    UNION
    SELECT e.conversation_id WHERE e.conversation_id IS NOT NULL) AS said
WHERE e.erasure_id = $1 AND e.kind <> 'namespace'
ON CONFLICT DO NOTHING

-- name: newest
-- The latest time and, per partition, the greatest end offset among the 100 latest erasures: of erasures that begin
-- concurrently, the latest need not have the greatest end offsets. No row without erasures.
WITH latest AS (
    SELECT at, positions
    FROM (SELECT purged_at AS at, positions FROM purges UNION ALL SELECT at, positions FROM erasures) AS fences
    ORDER BY at DESC LIMIT 100
), ends AS (
    SELECT key AS partition, max(value::bigint) AS position FROM latest, jsonb_each_text(positions) GROUP BY key
)
SELECT max(at) AS at, (SELECT coalesce(jsonb_object_agg(partition, position), '{}') FROM ends) AS positions
FROM latest HAVING count(*) > 0

-- name: fences
SELECT 'namespace' AS kind, namespace AS name, NULL AS user_id, NULL AS tenant_id, NULL AS app_id, purged_at AS at, positions
FROM purges WHERE namespace = ANY ($1::text[])
UNION ALL
SELECT 'conversation', c.conversation_id, e.user_id, e.tenant_id, e.app_id, e.at, e.positions
FROM erased_conversations c JOIN erasures e USING (erasure_id) WHERE c.conversation_id = ANY ($2::text[])
UNION ALL
SELECT 'user', user_id, user_id, tenant_id, app_id, at, positions
FROM erasures WHERE kind = 'user' AND user_id = ANY ($3::text[])

-- name: claim
-- Leases the erasure that has waited longest for $1 seconds. One at a time, so that an erasure with many namespaces
-- does not delay those of other workers.
UPDATE erasures SET lease_until = clock_timestamp() + $1::double precision * interval '1 second'
WHERE erasure_id = (SELECT erasure_id FROM erasures
                    WHERE completed_at IS NULL AND (lease_until IS NULL OR lease_until <= clock_timestamp())
                    ORDER BY lease_until NULLS FIRST, at
                    LIMIT 1
                    FOR UPDATE SKIP LOCKED)
RETURNING erasure_id, kind, user_id, tenant_id, app_id, conversation_id, namespace, at, positions, actor, reason

-- name: renew
UPDATE erasures SET lease_until = clock_timestamp() + $2::double precision * interval '1 second'
WHERE erasure_id = $1 AND lease_until > clock_timestamp()
RETURNING true

-- name: release
UPDATE erasures SET lease_until = clock_timestamp() + $2::double precision * interval '1 second' WHERE erasure_id = $1

-- name: get
SELECT erasure_id, kind, user_id, tenant_id, app_id, conversation_id, namespace, at, positions, actor, reason, completed_at, remains
FROM erasures WHERE erasure_id = $1

-- name: plan
INSERT INTO erased_namespaces (erasure_id, namespace, how, command_id)
SELECT $1, namespace, how, command_id FROM unnest($2::text[], $3::text[], $4::text[]) AS given (namespace, how, command_id)
ON CONFLICT DO NOTHING

-- name: plan_shadows
-- Adds the shadows of the namespaces from which erasure $1 deletes single memories. A purge of a whole namespace drops
-- its shadows itself.
INSERT INTO erased_namespaces (erasure_id, namespace, how, command_id)
SELECT n.erasure_id, shadow.namespace, n.how, md5(n.command_id || shadow.namespace)
FROM namespaces shadow JOIN erased_namespaces n ON n.namespace = standing_for(shadow.namespace)
WHERE n.erasure_id = $1 AND n.how = 'forget' AND shadow.namespace LIKE '~%' AND shadow.namespace <> n.namespace
ON CONFLICT DO NOTHING

-- name: fed
-- The namespaces that the erasure's conversations fed. They come from the extraction requests, as policies may have
-- changed since.
SELECT DISTINCT part.namespace
FROM erased_conversations c JOIN extractions USING (conversation_id) JOIN extraction_parts part USING (request_id)
WHERE c.erasure_id = $1

-- name: scopes
SELECT conversation_id, tenant_id, app_id, user_id, agent_id, mode
FROM erased_conversations c JOIN messages USING (conversation_id) WHERE c.erasure_id = $1
UNION
SELECT conversation_id, tenant_id, app_id, user_id, agent_id, mode
FROM erased_conversations c JOIN windows USING (conversation_id) WHERE c.erasure_id = $1

-- name: unsent
-- Up to $4 namespaces to be erased in the way $2 whose command was not sent, or was sent more than $3 seconds ago. A
-- namespace waits until its shadows are done: a cutover in between would otherwise restore erased memories from them.
SELECT namespace, how, command_id FROM erased_namespaces n
WHERE erasure_id = $1 AND done_at IS NULL AND how = $2
  AND NOT EXISTS (SELECT FROM erased_namespaces shadow
                  WHERE shadow.erasure_id = $1 AND shadow.done_at IS NULL AND shadow.namespace LIKE '~%'
                    AND shadow.namespace <> n.namespace AND standing_for(shadow.namespace) = n.namespace)
  AND (sent_at IS NULL OR sent_at <= clock_timestamp() - $3::double precision * interval '1 second')
ORDER BY namespace LIMIT $4

-- name: sent
UPDATE erased_namespaces SET sent_at = clock_timestamp() WHERE erasure_id = $1 AND namespace = ANY ($2::text[])

-- name: erased_of
-- Adds to the counts of a namespace, in the transaction that erases a part of it.
INSERT INTO erased_namespaces AS kept (erasure_id, namespace, how, command_id, memories, versions, vectors)
VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT (erasure_id, namespace) DO UPDATE SET
    memories = kept.memories + excluded.memories, versions = kept.versions + excluded.versions,
    vectors = kept.vectors + excluded.vectors

-- name: done_with
UPDATE erased_namespaces SET done_at = $3 WHERE erasure_id = $1 AND namespace = $2

-- name: namespaces
SELECT namespace, how, done_at, memories, versions, vectors FROM erased_namespaces WHERE erasure_id = $1 ORDER BY namespace

-- name: unanswered
SELECT requested.partition, erasure_id, kind, user_id, tenant_id, app_id, conversation_id, namespace, at, positions, actor, reason
FROM erasures, unnest($1::integer[]) AS requested (partition)
WHERE completed_at IS NULL
  AND NOT EXISTS (SELECT FROM erased_windows w
                  WHERE w.erasure_id = erasures.erasure_id AND w.partition = requested.partition)
ORDER BY at, requested.partition

-- name: answered
SELECT partition, max(at) AS at FROM erased_windows WHERE partition = ANY ($1::integer[]) GROUP BY partition

-- name: of_erasure
SELECT conversation_id FROM erased_conversations WHERE erasure_id = $1

-- name: answer
INSERT INTO erased_windows (erasure_id, partition, windows, messages, at) VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING

-- name: add_conversations
INSERT INTO erased_conversations (conversation_id, erasure_id)
SELECT named.conversation_id, e.erasure_id FROM unnest($2::text[]) AS named (conversation_id), erasures e
WHERE e.erasure_id = $1 AND e.kind <> 'namespace'
ON CONFLICT DO NOTHING

-- name: windows
SELECT count(*) AS partitions, coalesce(sum(windows), 0)::bigint AS windows, coalesce(sum(messages), 0)::bigint AS messages,
       max(at) AS at
FROM erased_windows WHERE erasure_id = $1

-- name: quieten_windows
-- Removes the summaries from the markers of these windows: elements 4 and 5 of a gap. The table has no other texts of
-- messages.
UPDATE windows SET gaps = (SELECT coalesce(jsonb_agg(gap - 5 - 4 ORDER BY place), '[]')
                           FROM jsonb_array_elements(gaps) WITH ORDINALITY AS each (gap, place))
WHERE conversation_id = ANY ($1::text[]) AND gaps <> '[]'

-- name: sweep_passages
-- Deletes up to 5,000 passages of the messages that `sweep_messages` deletes next.
DELETE FROM passages
WHERE passage_id IN (
    SELECT p.passage_id
    FROM erased_conversations c JOIN messages m USING (conversation_id) JOIN erasures e USING (erasure_id)
         JOIN passages p ON p.conversation_id = m.conversation_id AND p.message_id = m.message_id
    WHERE e.erasure_id = $1
      AND (least(m.said_at, m.archived_at) <= e.at
           OR m.position < (e.positions->>m.partition::text)::bigint AND m.said_at <= e.at + interval '1 day')
      AND (e.kind <> 'user' OR m.user_id IS NULL
           OR m.user_id = e.user_id AND (e.tenant_id IS NULL OR m.tenant_id = e.tenant_id)
              AND (e.app_id IS NULL OR m.app_id = e.app_id))
    LIMIT 5000)

-- name: sweep_messages
DELETE FROM messages
WHERE (conversation_id, message_id) IN (
    SELECT m.conversation_id, m.message_id
    FROM erased_conversations c JOIN messages m USING (conversation_id) JOIN erasures e USING (erasure_id)
    WHERE e.erasure_id = $1
      AND (least(m.said_at, m.archived_at) <= e.at
           OR m.position < (e.positions->>m.partition::text)::bigint AND m.said_at <= e.at + interval '1 day')
      AND (e.kind <> 'user' OR m.user_id IS NULL
           OR m.user_id = e.user_id AND (e.tenant_id IS NULL OR m.tenant_id = e.tenant_id)
              AND (e.app_id IS NULL OR m.app_id = e.app_id))
    LIMIT 5000)

-- name: sweep_answers
-- Empties summaries and removes proposals in answers that were requested before the erasure; an erasure of a user
-- removes only the user's proposals. Also cuts the details off reasons of failures, which may quote messages until
-- their dead letter is written. purges.sql explains the 5 seconds.
UPDATE extractions
SET answer = CASE WHEN answer ? 'text' THEN jsonb_set(answer, '{text}', '""')
                  WHEN e.kind = 'user' THEN without_erased(answer, '{}', ARRAY[e.user_id]) ELSE answer - 'proposals' END,
    failed_reason = split_part(failed_reason, ': ', 1)
FROM erased_conversations c JOIN erasures e USING (erasure_id)
WHERE e.erasure_id = $1 AND extractions.conversation_id = c.conversation_id
  AND extractions.requested_at
      - CASE WHEN first_position >= (e.positions->>extractions.partition::text)::bigint
             THEN interval '0' ELSE interval '5 seconds' END <= e.at
  AND (answer ->> 'text' <> '' OR failed_reason LIKE '%: %' OR answer ? 'proposals'
       AND (e.kind <> 'user' OR answer <> without_erased(answer, '{}', ARRAY[e.user_id])))

-- name: sweep_parked_requests
-- Deletes all parked requests of the conversations, with their budget reservations: windows request the extraction of
-- later messages again.
WITH gone AS (
    DELETE FROM parked USING erased_conversations c
    WHERE c.erasure_id = $1 AND parked.conversation_id = c.conversation_id
    RETURNING parked.request_id, reservation
), given_back AS (
    DELETE FROM energy_reservations WHERE reservation_id IN (SELECT reservation FROM gone)
)
SELECT request_id FROM gone

-- name: sweep_findings
-- Deletes findings of dry runs, verdicts of models on unsettled candidates, wishes to forget, and marks of hidden
-- messages.
WITH verdicts AS (
    DELETE FROM resolutions r USING erased_conversations c
    WHERE c.erasure_id = $1 AND r.conversation_id = c.conversation_id
), wishes AS (
    DELETE FROM forgotten f USING erased_conversations c
    WHERE c.erasure_id = $1 AND f.conversation_id = c.conversation_id
), hidden AS (
    DELETE FROM hidden_messages h USING erased_conversations c
    WHERE c.erasure_id = $1 AND h.conversation_id = c.conversation_id
)
DELETE FROM consolidation_findings f USING erased_conversations c
WHERE c.erasure_id = $1 AND f.conversation_id = c.conversation_id

-- name: sweep_window_rows
-- Deletes and counts the rows of forgotten windows. The other windows are counted by the workers that own them.
DELETE FROM windows USING erased_conversations c
WHERE c.erasure_id = $1 AND windows.conversation_id = c.conversation_id AND phase = 'forgotten'

-- name: sweep_prunings
DELETE FROM window_prunings p USING erased_conversations c, erasures e
WHERE e.erasure_id = $1 AND c.erasure_id = e.erasure_id AND p.conversation_id = c.conversation_id AND p.at <= e.at

-- name: sweep_user_settings
DELETE FROM user_settings u USING erasures e
WHERE e.erasure_id = $1 AND e.kind = 'user' AND u.user_id = e.user_id AND u.at <= e.at
  AND (e.tenant_id IS NULL OR u.tenant_id = e.tenant_id) AND (e.app_id IS NULL OR u.app_id = e.app_id)

-- name: count_removed
INSERT INTO erased_rows AS kept (erasure_id, store, removed, at) VALUES ($1, $2, $3, $4)
ON CONFLICT (erasure_id, store) DO UPDATE SET removed = kept.removed + excluded.removed, at = excluded.at

-- name: removed
SELECT store, removed, at FROM erased_rows WHERE erasure_id = $1 ORDER BY store

-- name: latest_removal
-- The time of the latest passage whose point waits to be deleted from Qdrant.
SELECT max(removed_at) FROM passage_removals

-- name: pending_removals
SELECT EXISTS (SELECT FROM passage_removals WHERE removed_at <= $1)

-- name: mixed
-- Counts, per namespace from which the erasure deletes single memories, the memories that stay although the erasure
-- covers one of their sources: they also have other sources. The versions of a deleted memory have its sources.
SELECT m.namespace, count(*) AS memories
FROM erased_namespaces n JOIN memories m USING (namespace)
CROSS JOIN LATERAL (
    SELECT CASE m.status WHEN 'deleted' THEN (SELECT before->'sources' FROM memory_versions v
                                              WHERE v.memory_id = m.memory_id AND before->>'status' <> 'deleted'
                                              ORDER BY v.version DESC LIMIT 1)
                         ELSE m.sources END AS sources) AS content
WHERE n.erasure_id = $1 AND n.how = 'forget'
  AND EXISTS (SELECT FROM jsonb_array_elements(content.sources) AS source
              JOIN erased_conversations c ON c.erasure_id = $1 AND c.conversation_id = source->>'conversation_id'
              WHERE coalesce((source->>'timestamp')::timestamptz, '-infinity') <= $2 AND NOT said_by_another(source, $1))
GROUP BY m.namespace ORDER BY m.namespace

-- name: complete
UPDATE erasures SET completed_at = $2, remains = $3, lease_until = NULL WHERE erasure_id = $1 AND completed_at IS NULL
