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
-- Locks the next sweep that is not finished and that no other process works on. Sweeps requested by hand within the
-- last hour come first, then daily ones, then older ones by hand, so that a manual sweep that never finishes does not
-- hold up the daily ones.
SELECT * FROM retention_sweeps
WHERE status IN ('pending', 'running')
ORDER BY trigger = 'hand' AND created_at > $1::timestamptz - interval '1 hour' DESC, trigger = 'hand', created_at, sweep_id
LIMIT 1
FOR UPDATE SKIP LOCKED

-- name: windows
SELECT conversation_id, partition, tenant_id, app_id, user_id, agent_id, mode
FROM windows
WHERE (conversation_id, partition) > ($1, $2)
ORDER BY conversation_id, partition
LIMIT $3

-- name: prune
-- Deletes up to $7 messages and counts them by policy. A message must be older than the days of its policy, outside of
-- the context, and in a slice whose extraction is completed, unless the policy extracts nothing. Rows that another
-- transaction holds are left for the next sweep. A dry run ($8) counts all such messages and locks none. Slices of
-- namespaces that begin with ~ belong to replays. Positions are compared as sets: joining the slices of a long
-- conversation to each of its messages would be slow.
WITH standing AS MATERIALIZED (
    SELECT conversation_id, partition, requested.policy, $6::timestamptz - requested.days * interval '1 day' AS before,
           CASE WHEN w.phase = 'forgotten' THEN '{(,)}'::int8multirange
                ELSE int8multirange(int8range(NULL, w.opened)) + coalesce(out_of_context.positions, '{}') END
           * CASE WHEN requested.extracts THEN coalesce(completed.positions, '{}')
                  ELSE '{(,)}'::int8multirange END AS positions
    FROM unnest($1::text[], $2::integer[], $3::text[], $4::integer[], $5::boolean[])
             AS requested (conversation_id, partition, policy, days, extracts)
    JOIN windows w USING (conversation_id, partition)
    CROSS JOIN LATERAL (
        SELECT range_agg(int8range((gap ->> 0)::bigint, (gap ->> 1)::bigint, '[]')) AS positions
        FROM jsonb_array_elements(w.gaps) AS gap
    ) AS out_of_context
    CROSS JOIN LATERAL (
        SELECT range_agg(int8range(e.first_position, e.last_position, '[]')) AS positions
        FROM extractions e
        WHERE e.conversation_id = w.conversation_id AND e.partition = w.partition AND left(e.namespaces[1], 1) <> '~'
          AND e.completed_at IS NOT NULL AND e.first_position <= e.last_position
    ) AS completed
    WHERE requested.days > 0
), counted AS (
    SELECT s.policy, octet_length(m.content) AS bytes
    FROM standing s JOIN messages m USING (conversation_id, partition)
    WHERE $8::boolean AND m.archived_at <= s.before AND m.position <@ s.positions
), due AS (
    SELECT m.conversation_id, m.message_id, s.policy, octet_length(m.content) AS bytes
    FROM standing s JOIN messages m USING (conversation_id, partition)
    WHERE NOT $8::boolean AND m.archived_at <= s.before AND m.position <@ s.positions
    LIMIT $7
    FOR UPDATE OF m SKIP LOCKED
), gone AS (
    DELETE FROM messages m USING due WHERE m.conversation_id = due.conversation_id AND m.message_id = due.message_id
)
SELECT policy, count(*) AS pruned, sum(bytes)::bigint AS pruned_bytes
FROM (SELECT policy, bytes FROM counted UNION ALL SELECT policy, bytes FROM due) AS found
GROUP BY policy

-- name: keep
-- Counts all messages of each policy, and those that are older than its days.
SELECT requested.policy, count(*) AS messages, sum(octet_length(m.content))::bigint AS bytes, min(m.archived_at) AS oldest,
       count(*) FILTER (WHERE requested.days > 0 AND m.archived_at <= $5::timestamptz - requested.days * interval '1 day') AS old
FROM unnest($1::text[], $2::integer[], $3::text[], $4::integer[]) AS requested (conversation_id, partition, policy, days)
JOIN messages m USING (conversation_id, partition)
GROUP BY requested.policy

-- name: advance
UPDATE retention_sweeps
SET status = 'running', conversation_id = $2, partition = $3, policies = $4, usage = usage + $5, prunings = prunings + $6
WHERE sweep_id = $1

-- name: finish
UPDATE retention_sweeps SET status = 'completed', finished_at = $2 WHERE sweep_id = $1

-- name: drop_usage
-- Deletes up to $2 records of usage up to $1. Records that are not published yet stay.
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
