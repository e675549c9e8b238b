-- name: ask
INSERT INTO retention_sweeps (sweep_id, trigger, status, dry_run, asked_by, created_at)
VALUES ($1, $2, 'pending', $3, $4, $5)
ON CONFLICT DO NOTHING

-- name: of
SELECT * FROM retention_sweeps WHERE sweep_id = $1

-- name: page
SELECT * FROM retention_sweeps
WHERE $1::timestamptz IS NULL OR (created_at, sweep_id) < ($1, $2::text)
ORDER BY created_at DESC, sweep_id DESC
LIMIT $3

-- name: claim
-- One that is not over and that nobody takes a step of right now: what somebody asked for first, else the oldest.
SELECT * FROM retention_sweeps
WHERE status IN ('pending', 'running')
ORDER BY trigger = 'hand' DESC, created_at, sweep_id
LIMIT 1
FOR UPDATE SKIP LOCKED

-- name: windows
SELECT conversation_id, partition, tenant_id, app_id, user_id, agent_id, mode
FROM windows
WHERE (conversation_id, partition) > ($1, $2)
ORDER BY conversation_id, partition
LIMIT $3

-- name: prune
-- Old enough, in a slice whose extraction is completed (or under a policy that extracts nothing), and in no context any more. Rows
-- that somebody else holds are left for the next sweep. Namespaces that begin with ~ are those of replays.
WITH due AS (
    SELECT m.conversation_id, m.message_id, asked.policy, octet_length(m.content) AS bytes
    FROM unnest($1::text[], $2::integer[], $3::text[], $4::integer[], $5::boolean[])
             AS asked (conversation_id, partition, policy, days, extracts)
    JOIN windows w USING (conversation_id, partition)
    JOIN messages m USING (conversation_id, partition)
    WHERE asked.days > 0 AND m.archived_at <= $6::timestamptz - asked.days * interval '1 day'
      AND (w.phase = 'forgotten' OR m.position < w.opened
           OR EXISTS (SELECT FROM jsonb_array_elements(w.gaps) AS gap
                      WHERE m.position BETWEEN (gap ->> 0)::bigint AND (gap ->> 1)::bigint))
      AND (NOT asked.extracts
           OR EXISTS (SELECT FROM extractions e
                      WHERE e.conversation_id = m.conversation_id AND e.partition = m.partition
                        AND left(e.namespaces[1], 1) <> '~' AND m.position BETWEEN e.first_position AND e.last_position
                        AND e.completed_at IS NOT NULL))
    LIMIT $7
    FOR UPDATE OF m SKIP LOCKED
), gone AS (
    DELETE FROM messages m USING due
    WHERE NOT $8::boolean AND m.conversation_id = due.conversation_id AND m.message_id = due.message_id
)
SELECT policy, count(*) AS pruned, sum(bytes)::bigint AS pruned_bytes FROM due GROUP BY policy

-- name: keep
-- What is there, and what of it is old.
SELECT asked.policy, count(*) AS messages, sum(octet_length(m.content))::bigint AS bytes, min(m.archived_at) AS oldest,
       count(*) FILTER (WHERE asked.days > 0 AND m.archived_at <= $5::timestamptz - asked.days * interval '1 day') AS old
FROM unnest($1::text[], $2::integer[], $3::text[], $4::integer[]) AS asked (conversation_id, partition, policy, days)
JOIN messages m USING (conversation_id, partition)
GROUP BY asked.policy

-- name: advance
UPDATE retention_sweeps
SET status = 'running', conversation_id = $2, partition = $3, policies = $4, usage = usage + $5, prunings = prunings + $6
WHERE sweep_id = $1

-- name: finish
UPDATE retention_sweeps SET status = 'completed', finished_at = $2 WHERE sweep_id = $1

-- name: drop_usage
-- What is not told on Kafka yet stays.
DELETE FROM model_usage
WHERE ctid = ANY (ARRAY (SELECT ctid FROM model_usage WHERE at <= $1 AND told LIMIT $2 FOR UPDATE SKIP LOCKED))

-- name: count_usage
SELECT count(*) FROM model_usage WHERE at <= $1 AND told

-- name: drop_prunings
DELETE FROM window_prunings
WHERE ctid = ANY (ARRAY (SELECT ctid FROM window_prunings WHERE at <= $1 LIMIT $2 FOR UPDATE SKIP LOCKED))

-- name: count_prunings
SELECT count(*) FROM window_prunings WHERE at <= $1

-- name: forget
DELETE FROM retention_sweeps WHERE finished_at <= $1
