-- name: add
-- A scheduled time has one run, however many processes find it due.
INSERT INTO consolidation_runs (run_id, trigger, status, dry_run, lane, policy, namespace, conversation_id, namespaces, most,
                                asked_by, due_at, missed, created_at)
VALUES ($1, $2, 'pending', $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
ON CONFLICT DO NOTHING
RETURNING run_id

-- name: of
SELECT * FROM consolidation_runs WHERE run_id = $1

-- name: page
-- Up to $6 runs, newest first, after the run with time $4 and id $5. $1 is a namespace of the run, $2 its policy, $3
-- its status; null parameters do not filter.
SELECT * FROM consolidation_runs
WHERE ($1::text IS NULL OR namespaces @> ARRAY[$1]) AND ($2::text IS NULL OR policy = $2)
  AND ($3::text IS NULL OR status = $3)
  AND ($4::timestamptz IS NULL OR (created_at, run_id) < ($4, $5::text))
ORDER BY created_at DESC, run_id DESC
LIMIT $6

-- name: findings
-- Findings of run $1 after number $2, with the current text of the memory that a candidate would change.
SELECT f.*, m.text AS known
FROM consolidation_findings f
LEFT JOIN memories m ON m.memory_id = f.memory_id AND m.namespace = f.namespace AND m.status <> 'deleted'
WHERE f.run_id = $1 AND f.number > $2 AND ($3::text IS NULL OR f.namespace = $3)
ORDER BY f.number
LIMIT $4

-- name: schedules
SELECT policy, schedule, next_due FROM consolidation_schedules ORDER BY next_due, policy

-- name: last_scheduled
-- The latest scheduled run of each of these policies.
SELECT r.* FROM unnest($1::text[]) AS of (name)
CROSS JOIN LATERAL (
    SELECT * FROM consolidation_runs WHERE trigger = 'schedule' AND policy = of.name ORDER BY due_at DESC LIMIT 1
) r

-- name: set_schedule
INSERT INTO consolidation_schedules (policy, schedule, next_due) VALUES ($1, $2, $3)
ON CONFLICT (policy) DO UPDATE SET schedule = excluded.schedule, next_due = excluded.next_due

-- name: drop_schedules
DELETE FROM consolidation_schedules WHERE policy <> ALL ($1::text[])

-- name: pending
SELECT * FROM consolidation_runs WHERE status = 'pending' ORDER BY trigger = 'hand', created_at, run_id LIMIT $1

-- name: lock_requester
-- Held while the pending runs of one person are counted and a further one is added, so that concurrent requests cannot
-- exceed the limit.
SELECT pg_advisory_xact_lock(hashtextextended($1, 8))

-- name: count_pending
SELECT count(*) FROM consolidation_runs WHERE status = 'pending' AND trigger = 'hand' AND asked_by = $1

-- name: windows
-- All windows that are not forgotten, of one conversation or of all.
SELECT conversation_id, partition, tenant_id, app_id, user_id, agent_id, mode
FROM windows
WHERE phase <> 'forgotten' AND ($1::text IS NULL OR conversation_id = $1)
  AND (conversation_id, partition) > ($2, $3)
ORDER BY conversation_id, partition
LIMIT $4

-- name: speakers
SELECT conversation_id, array_agg(DISTINCT user_id) AS user_ids
FROM messages
WHERE conversation_id = ANY ($1::text[]) AND user_id IS NOT NULL
GROUP BY conversation_id

-- name: add_conversations
-- Adds to run $1 those of the given conversations in which messages wait for extraction, each from the first waiting
-- message to the last, according to the archive, the windows' rows and the settled slices; at most $5. Messages that
-- another running run covers are left out, except by a dry run ($4). Slices without a namespace are summaries, and
-- those of namespaces that begin with ~ are replays: both leave messages waiting. Positions are compared as sets, here
-- and below: joining the slices of a long conversation to each of its messages would be slow.
INSERT INTO consolidation_conversations (run_id, conversation_id, partition, first_position, last_position)
SELECT $1, w.conversation_id, w.partition, waiting.first_position, waiting.last_position
FROM unnest($2::text[], $3::integer[]) AS requested (conversation_id, partition)
JOIN windows w USING (conversation_id, partition)
CROSS JOIN LATERAL (
    SELECT coalesce(max(c.last_position) + 1, 0) AS position
    FROM consolidation_conversations c JOIN consolidation_runs r USING (run_id)
    WHERE c.conversation_id = w.conversation_id AND c.partition = w.partition AND c.done_at IS NULL
      AND r.status = 'running' AND NOT r.dry_run AND NOT $4::boolean
) AS taken
CROSS JOIN LATERAL (SELECT greatest(w.extracted_to, w.opened, taken.position) AS position) AS beginning
CROSS JOIN LATERAL (
    SELECT coalesce(range_agg(int8range(e.first_position, e.last_position, '[]')), '{}') AS positions
    FROM extractions e
    WHERE e.conversation_id = w.conversation_id AND e.partition = w.partition AND left(e.namespaces[1], 1) <> '~'
      AND e.first_position <= e.last_position AND e.last_position >= beginning.position
      AND (e.completed_at IS NOT NULL OR e.failed_at IS NOT NULL)
) AS settled
CROSS JOIN LATERAL (
    SELECT min(m.position) AS first_position, max(m.position) AS last_position
    FROM messages m
    WHERE m.conversation_id = w.conversation_id AND m.partition = w.partition AND m.position >= beginning.position
      AND NOT m.position <@ settled.positions
) AS waiting
WHERE waiting.first_position IS NOT NULL
LIMIT $5
ON CONFLICT DO NOTHING

-- name: begin
-- A run without conversations ends when it begins.
UPDATE consolidation_runs AS r
SET started_at = $2::timestamptz, conversations = counted.conversations,
    status = CASE WHEN counted.conversations = 0 THEN 'completed' ELSE 'running' END,
    finished_at = CASE WHEN counted.conversations = 0 THEN $2::timestamptz END
FROM (SELECT count(*) AS conversations FROM consolidation_conversations WHERE run_id = $1) AS counted
WHERE r.run_id = $1 AND r.status = 'pending'

-- name: request_first
WITH due AS (
    SELECT c.run_id, c.conversation_id, c.partition, r.lane
    FROM consolidation_conversations c JOIN consolidation_runs r USING (run_id)
    WHERE c.done_at IS NULL AND c.asked_at IS NULL AND r.status = 'running' AND NOT r.dry_run
    ORDER BY r.created_at, c.conversation_id
    LIMIT $2
)
UPDATE consolidation_conversations AS c SET asked_at = $1
FROM due
WHERE c.run_id = due.run_id AND c.conversation_id = due.conversation_id AND c.partition = due.partition
RETURNING c.conversation_id, c.partition, due.lane

-- name: request_again
-- Marks conversations last asked up to $2 that have waiting messages without a request since: the control event arrived
-- before the messages, or was lost. At most $3.
WITH due AS (
    SELECT c.run_id, c.conversation_id, c.partition, r.lane
    FROM consolidation_conversations c JOIN consolidation_runs r USING (run_id)
    CROSS JOIN LATERAL (
        SELECT coalesce(range_agg(int8range(e.first_position, e.last_position, '[]')), '{}') AS positions
        FROM extractions e
        WHERE e.conversation_id = c.conversation_id AND e.partition = c.partition AND left(e.namespaces[1], 1) <> '~'
          AND e.first_position <= least(e.last_position, c.last_position) AND e.last_position >= c.first_position
    ) AS taken
    WHERE c.done_at IS NULL AND c.asked_at <= $2 AND r.status = 'running' AND NOT r.dry_run
      AND NOT EXISTS (SELECT FROM parked p WHERE p.conversation_id = c.conversation_id AND left(p.namespaces[1], 1) <> '~')
      AND EXISTS (SELECT FROM messages m
                  WHERE m.conversation_id = c.conversation_id AND m.partition = c.partition
                    AND m.position BETWEEN c.first_position AND c.last_position AND NOT m.position <@ taken.positions)
    LIMIT $3
)
UPDATE consolidation_conversations AS c SET asked_at = $1
FROM due
WHERE c.run_id = due.run_id AND c.conversation_id = due.conversation_id AND c.partition = due.partition
RETURNING c.conversation_id, c.partition, due.lane

-- name: open_page
-- A page of conversations that are not done, after the given key.
SELECT c.run_id, c.conversation_id, c.partition
FROM consolidation_conversations c JOIN consolidation_runs r USING (run_id)
WHERE c.done_at IS NULL AND r.status = 'running' AND NOT r.dry_run
  AND (c.run_id, c.conversation_id, c.partition) > ($1, $2, $3)
ORDER BY c.run_id, c.conversation_id, c.partition
LIMIT $4

-- name: settle
-- Marks those of the given conversations as done in which no message waits any more, and stores the counts of their
-- slices. A slice counts for the run in whose range it begins, so it counts once.
WITH over AS (
    SELECT c.run_id, c.conversation_id, c.partition, c.first_position, c.last_position
    FROM unnest($2::text[], $3::text[], $4::integer[]) AS looked_at (run_id, conversation_id, partition)
    JOIN consolidation_conversations c USING (run_id, conversation_id, partition)
    LEFT JOIN windows w USING (conversation_id, partition)
    CROSS JOIN LATERAL (SELECT greatest(c.first_position, w.extracted_to, w.opened) AS position) AS beginning
    CROSS JOIN LATERAL (
        SELECT coalesce(range_agg(int8range(e.first_position, e.last_position, '[]')), '{}') AS positions
        FROM extractions e
        WHERE e.conversation_id = c.conversation_id AND e.partition = c.partition AND left(e.namespaces[1], 1) <> '~'
          AND e.first_position <= least(e.last_position, c.last_position) AND e.last_position >= beginning.position
          AND (e.completed_at IS NOT NULL OR e.failed_at IS NOT NULL)
    ) AS settled
    WHERE c.done_at IS NULL
      AND (w.phase = 'forgotten' OR NOT EXISTS (
          SELECT FROM messages m
          WHERE m.conversation_id = c.conversation_id AND m.partition = c.partition
            AND m.position BETWEEN beginning.position AND c.last_position AND NOT m.position <@ settled.positions))
)
UPDATE consolidation_conversations AS c
SET done_at = $1, requests = slices.requests, failed_requests = slices.failed, providers = slices.providers,
    models = slices.models, created = rulings.created, reinforced = rulings.reinforced, merged = rulings.merged,
    superseded = rulings.superseded, dropped = rulings.dropped, tokens = used.tokens, cost_micros = used.cost_micros
FROM over
CROSS JOIN LATERAL (
    SELECT count(*) AS requests, count(*) FILTER (WHERE e.completed_at IS NULL AND e.failed_reason IS NOT NULL) AS failed,
           coalesce(array_agg(DISTINCT e.provider) FILTER (WHERE e.provider IS NOT NULL), '{}') AS providers,
           coalesce(array_agg(DISTINCT e.model) FILTER (WHERE e.model IS NOT NULL), '{}') AS models,
           coalesce(array_agg(e.request_id), '{}') AS ids
    FROM extractions e
    WHERE e.conversation_id = over.conversation_id AND e.partition = over.partition AND left(e.namespaces[1], 1) <> '~'
      AND e.first_position BETWEEN over.first_position AND over.last_position
) AS slices
CROSS JOIN LATERAL (
    SELECT count(*) FILTER (WHERE ruling ->> 'result' = 'created') AS created,
           count(*) FILTER (WHERE ruling ->> 'result' = 'reinforced') AS reinforced,
           count(*) FILTER (WHERE ruling ->> 'result' = 'merged') AS merged,
           count(*) FILTER (WHERE ruling ->> 'result' = 'superseded') AS superseded,
           count(*) FILTER (WHERE ruling ->> 'result' = 'dropped') AS dropped
    FROM extraction_parts p, jsonb_array_elements(p.outcome -> 'rulings') AS ruling
    WHERE p.request_id = ANY (slices.ids)
) AS rulings
CROSS JOIN LATERAL (
    SELECT coalesce(sum(u.input_tokens + u.output_tokens + u.cache_read_tokens + u.cache_write_tokens), 0)::bigint AS tokens,
           coalesce(sum(u.cost_micros), 0)::bigint AS cost_micros
    FROM model_usage u WHERE u.request_id = ANY (slices.ids)
) AS used
WHERE c.run_id = over.run_id AND c.conversation_id = over.conversation_id AND c.partition = over.partition
RETURNING c.run_id

-- name: add_up
UPDATE consolidation_runs AS r
SET processed = s.processed, requests = s.requests, failed_requests = s.failed_requests, created = s.created,
    reinforced = s.reinforced, merged = s.merged, superseded = s.superseded, dropped = s.dropped, tokens = s.tokens,
    cost_micros = s.cost_micros,
    providers = ARRAY (SELECT DISTINCT each FROM consolidation_conversations c, unnest(c.providers) AS each
                       WHERE c.run_id = r.run_id ORDER BY each),
    models = ARRAY (SELECT DISTINCT each FROM consolidation_conversations c, unnest(c.models) AS each
                    WHERE c.run_id = r.run_id ORDER BY each)
FROM (SELECT run_id, count(*) FILTER (WHERE done_at IS NOT NULL) AS processed, sum(requests) AS requests,
             sum(failed_requests) AS failed_requests, sum(created) AS created, sum(reinforced) AS reinforced,
             sum(merged) AS merged, sum(superseded) AS superseded, sum(dropped) AS dropped, sum(tokens) AS tokens,
             sum(cost_micros) AS cost_micros
      FROM consolidation_conversations WHERE run_id = ANY ($1::text[]) GROUP BY run_id) AS s
WHERE r.run_id = s.run_id

-- name: finish
UPDATE consolidation_runs
SET status = CASE WHEN requests > 0 AND failed_requests = requests THEN 'failed' ELSE 'completed' END, finished_at = $2,
    lease_owner = NULL, lease_until = NULL,
    error = CASE WHEN failed_requests > 0
                 THEN format('%s of %s requests got no answer: `memstream dead-letters list --stage extraction` says why',
                             failed_requests, requests) END
WHERE run_id = ANY ($1::text[]) AND status = 'running' AND processed = conversations
RETURNING *

-- name: give_up
UPDATE consolidation_runs
SET status = 'failed', finished_at = $1, lease_owner = NULL, lease_until = NULL,
    error = format('%s of %s conversations were not done in time; what they asked for is still extracted',
                   conversations - processed, conversations)
WHERE status = 'running' AND started_at <= $2
RETURNING *

-- name: fail
UPDATE consolidation_runs
SET status = 'failed', finished_at = $2, error = $3, lease_owner = NULL, lease_until = NULL
WHERE run_id = $1 AND status IN ('pending', 'running')

-- name: forget_details
-- Deletes the conversations of runs that finished up to $1. The runs themselves are kept.
WITH old AS (SELECT run_id FROM consolidation_runs WHERE finished_at <= $1)
DELETE FROM consolidation_conversations AS c USING old WHERE c.run_id = old.run_id

-- name: forget_findings
WITH old AS (SELECT run_id FROM consolidation_runs WHERE finished_at <= $1)
DELETE FROM consolidation_findings AS f USING old WHERE f.run_id = old.run_id

-- name: claim_dry
UPDATE consolidation_runs
SET lease_owner = $1, lease_until = clock_timestamp() + $2::double precision * interval '1 second'
WHERE run_id = (SELECT run_id FROM consolidation_runs
                WHERE status = 'running' AND dry_run AND (lease_until IS NULL OR lease_until <= clock_timestamp())
                ORDER BY created_at, run_id
                LIMIT 1
                FOR UPDATE SKIP LOCKED)
RETURNING *

-- name: renew_dry
UPDATE consolidation_runs SET lease_until = clock_timestamp() + $3::double precision * interval '1 second'
WHERE run_id = $1 AND lease_owner = $2 AND status = 'running'
RETURNING run_id

-- name: release_dry
UPDATE consolidation_runs SET lease_owner = NULL, lease_until = NULL WHERE run_id = $1 AND lease_owner = $2

-- name: next_dry
SELECT c.conversation_id, c.partition, c.first_position, c.last_position,
       w.tenant_id, w.app_id, w.user_id, w.agent_id, w.mode
FROM consolidation_conversations c LEFT JOIN windows w USING (conversation_id, partition)
WHERE c.run_id = $1 AND c.done_at IS NULL
ORDER BY c.conversation_id, c.partition
LIMIT 1

-- name: waiting
-- Messages of a conversation at positions $3 to $4 that no settled slice covers: the first $5 at most, ending with the
-- message that reaches $6 bytes of content.
WITH settled AS (
    SELECT coalesce(range_agg(int8range(first_position, last_position, '[]')), '{}') AS positions
    FROM extractions
    WHERE conversation_id = $1 AND partition = $2 AND left(namespaces[1], 1) <> '~'
      AND first_position <= least(last_position, $4) AND last_position >= $3
      AND (completed_at IS NOT NULL OR failed_at IS NOT NULL)
), first_ones AS (
    SELECT partition, position, content, body
    FROM messages CROSS JOIN settled
    WHERE conversation_id = $1 AND partition = $2 AND position BETWEEN $3 AND $4 AND NOT position <@ settled.positions
    ORDER BY position
    LIMIT $5
), counted AS (
    SELECT *, sum(octet_length(content)) OVER (ORDER BY position) - octet_length(content) AS bytes_before FROM first_ones
)
SELECT partition, position, content, body FROM counted WHERE bytes_before < $6 ORDER BY position

-- name: add_finding
-- Adds a finding, unless its namespace or conversation was erased after the run was created.
INSERT INTO consolidation_findings (run_id, namespace, conversation_id, result, kind, text, memory_id, reason, message_ids)
SELECT r.run_id, $2, $3, $4, $5, $6, $7, $8, $9
FROM consolidation_runs r
WHERE r.run_id = $1 AND NOT EXISTS (SELECT FROM purges WHERE namespace = $2 AND purged_at >= r.created_at)
  AND NOT EXISTS (SELECT FROM erased_conversations c JOIN erasures e USING (erasure_id)
                  WHERE c.conversation_id = $3 AND e.at >= r.created_at)

-- name: done_dry
-- Marks a conversation of a dry run as done. Returns no row if another worker was faster.
UPDATE consolidation_conversations
SET done_at = $4, requests = $5, failed_requests = $6, created = $7, reinforced = $8, merged = $9, superseded = $10,
    dropped = $11, providers = $12, models = $13,
    tokens = (SELECT coalesce(sum(u.input_tokens + u.output_tokens + u.cache_read_tokens + u.cache_write_tokens), 0)
              FROM model_usage u WHERE u.request_id = ANY ($14::text[])),
    cost_micros = (SELECT coalesce(sum(u.cost_micros), 0) FROM model_usage u WHERE u.request_id = ANY ($14::text[]))
WHERE run_id = $1 AND conversation_id = $2 AND partition = $3 AND done_at IS NULL
RETURNING run_id

-- name: all_done
SELECT run_id FROM consolidation_runs WHERE status = 'running' AND processed = conversations
