-- name: begin
INSERT INTO generations (generation_id, plan, status, created_at, changed_at) VALUES ($1, $2, 'building', $3, $3)

-- name: hold
-- A session lock: it is released when the process ends.
SELECT pg_try_advisory_lock(hashtextextended($1, 7))

-- name: let_go
SELECT pg_advisory_unlock(hashtextextended($1, 7))

-- name: add_conversations
INSERT INTO generation_conversations (generation_id, conversation_id, last_said_at)
SELECT $1, * FROM unnest($2::text[], $3::timestamptz[])
ON CONFLICT DO NOTHING

-- name: get
SELECT generation_id, plan, status, created_at, changed_at FROM generations WHERE generation_id = $1

-- name: lock
SELECT generation_id, plan, status, created_at, changed_at FROM generations WHERE generation_id = $1 FOR UPDATE

-- name: latest
SELECT generation_id, plan, status, created_at, changed_at FROM generations ORDER BY created_at DESC, generation_id LIMIT $1

-- name: shadows_of
-- The shadows of live namespace $1: those of all generations, and those that remain of a generation that was discarded
-- during its replay.
SELECT '~' || generation_id || '/' || $1::text AS namespace FROM generations
UNION
SELECT namespace FROM namespaces WHERE namespace LIKE '~%' AND namespace <> $1 AND standing_for(namespace) = $1
ORDER BY namespace

-- name: progress
SELECT count(*) AS conversations, count(done_at) AS done, coalesce(sum(slices), 0)::bigint AS slices,
       coalesce(sum(failed), 0)::bigint AS failed, max(failure) AS failure,
       (SELECT count(*) FROM generation_namespaces WHERE generation_id = $1) AS namespaces
FROM generation_conversations WHERE generation_id = $1

-- name: said
-- Conversations with messages said from $1 until before $2 and archived up to $3. In the scope of each, the first known
-- value of a field counts, and all users who speak.
SELECT conversation_id, max(said_at) AS last_said_at,
       (array_agg(tenant_id ORDER BY partition, position) FILTER (WHERE tenant_id IS NOT NULL))[1] AS tenant_id,
       (array_agg(app_id ORDER BY partition, position) FILTER (WHERE app_id IS NOT NULL))[1] AS app_id,
       array_agg(DISTINCT user_id) FILTER (WHERE user_id IS NOT NULL) AS user_ids,
       (array_agg(agent_id ORDER BY partition, position) FILTER (WHERE agent_id IS NOT NULL))[1] AS agent_id,
       (array_agg(mode ORDER BY partition, position) FILTER (WHERE mode IS NOT NULL))[1] AS mode
FROM messages
WHERE ($1::timestamptz IS NULL OR said_at >= $1) AND said_at < $2 AND archived_at <= $3
GROUP BY conversation_id

-- name: messages
SELECT partition, position, content, body
FROM messages
WHERE conversation_id = $1 AND ($2::timestamptz IS NULL OR said_at >= $2) AND said_at < $3 AND archived_at <= $4
ORDER BY partition, position

-- name: waiting
SELECT conversation_id, last_said_at
FROM generation_conversations
WHERE generation_id = $1 AND done_at IS NULL
  AND ($2::timestamptz IS NULL OR (last_said_at, conversation_id) > ($2, $3::text))
ORDER BY last_said_at, conversation_id LIMIT $4

-- name: done_of
SELECT conversation_id FROM generation_conversations
WHERE generation_id = $1 AND done_at IS NOT NULL AND conversation_id = ANY ($2::text[])

-- name: done
INSERT INTO generation_conversations (generation_id, conversation_id, last_said_at, ranges, slices, failed, failure, done_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
ON CONFLICT (generation_id, conversation_id) DO UPDATE SET
    ranges = excluded.ranges, slices = excluded.slices, failed = excluded.failed, failure = excluded.failure,
    done_at = excluded.done_at

-- name: feeds
INSERT INTO generation_namespaces (generation_id, namespace)
SELECT $1, unnest($2::text[]) ORDER BY 2
ON CONFLICT DO NOTHING

-- name: ready
UPDATE generations SET status = 'ready', changed_at = $2 WHERE generation_id = $1 AND status = 'building' RETURNING true

-- name: become
UPDATE generations SET status = $2, changed_at = $3 WHERE generation_id = $1

-- name: ranges
SELECT conversation_id, ranges FROM generation_conversations
WHERE generation_id = $1 AND conversation_id = ANY ($2::text[]) AND done_at IS NOT NULL

-- name: namespaces
-- Up to $3 namespaces after $2, in the order in which they are locked.
SELECT namespace, first_sequence, last_sequence FROM generation_namespaces
WHERE generation_id = $1 AND namespace COLLATE "C" > $2 ORDER BY namespace COLLATE "C" LIMIT $3

-- name: any_switched
SELECT EXISTS (SELECT FROM generation_namespaces WHERE generation_id = $1 AND first_sequence IS NOT NULL)

-- name: switched_in_part
SELECT count(first_sequence) BETWEEN 1 AND count(*) - 1 FROM generation_namespaces WHERE generation_id = $1

-- name: switched
UPDATE generation_namespaces SET first_sequence = $3, last_sequence = $4 WHERE generation_id = $1 AND namespace = $2

-- name: by_hand
-- Memories that a command created or changed.
SELECT DISTINCT memory_id FROM memory_versions WHERE memory_id = ANY ($1::text[]) AND cause ? 'command_id'

-- name: gone
-- Memories that are not live any more: the last live state, the change and its cause, and the successor.
SELECT went.before, went.change, went.cause, successor.sources AS successor_sources
FROM memories
     CROSS JOIN LATERAL (
         SELECT before, change, cause FROM memory_versions
         WHERE memory_versions.memory_id = memories.memory_id AND before->>'status' = 'active' AND after->>'status' <> 'active'
         ORDER BY version DESC LIMIT 1) AS went
     LEFT JOIN memories AS successor ON successor.memory_id = memories.superseded_by
WHERE memories.namespace = $1 AND memories.status <> 'active'
LIMIT $2

-- name: changed_between
-- Memories that changed between sequences $2 and $3 of a namespace: the state before the first of these changes, and
-- the version after the last.
SELECT memory_id, (array_agg(before ORDER BY version))[1] AS before, max(version) AS version
FROM memory_versions
WHERE namespace = $1 AND (after->>'sequence')::bigint BETWEEN $2 AND $3
GROUP BY memory_id ORDER BY min((after->>'sequence')::bigint)

-- name: drop_versions
DELETE FROM memory_versions WHERE namespace = $1

-- name: drop_memories
DELETE FROM memories WHERE namespace = $1 RETURNING memory_id

-- name: drop_namespace
DELETE FROM namespaces WHERE namespace = $1

-- name: drop_answers
DELETE FROM extractions WHERE namespaces && $1::text[]

-- name: drop
DELETE FROM generations WHERE generation_id = $1
