-- name: changes_by_day
SELECT (at AT TIME ZONE 'UTC')::date AS day, change, count(*) AS changes
FROM memory_versions WHERE namespace = $1 AND at >= $2 AND at < $3
GROUP BY 1, 2 ORDER BY 1, 2

-- name: usage_by_day
-- A record's numbers are shared evenly among its namespaces; a call counts whole for each of them.
SELECT (at AT TIME ZONE 'UTC')::date AS day, sum(calls)::bigint AS calls,
       round(sum((input_tokens + output_tokens + cache_read_tokens + cache_write_tokens)::numeric
                 / cardinality(namespaces)))::bigint AS tokens,
       coalesce(sum(cost_micros::numeric / cardinality(namespaces)), 0)::double precision AS micros
FROM model_usage WHERE namespaces @> ARRAY[$1] AND at >= $2 AND at < $3
GROUP BY 1 ORDER BY 1

-- name: retrievals_by_day
SELECT day, operation, asked, found FROM retrieval_counts WHERE namespace = $1 AND day >= $2 AND day <= $3

-- name: costliest
-- The $2 memories that cost most. The tokens and the cost of a request are shared evenly among its namespaces, and then
-- among the memories that it changed in this one. Calls count whole for each memory.
WITH changed AS (
    SELECT DISTINCT memory_id, cause->>'request_id' AS request_id
    FROM memory_versions WHERE namespace = $1 AND cause->>'request_id' IS NOT NULL
), parts AS (
    SELECT request_id, count(*) AS memories FROM changed GROUP BY request_id
), spent AS (
    SELECT request_id, sum(calls) AS calls,
           sum((input_tokens + output_tokens + cache_read_tokens + cache_write_tokens)::numeric / cardinality(namespaces)) AS tokens,
           sum(cost_micros::numeric / cardinality(namespaces)) AS micros
    FROM model_usage WHERE namespaces @> ARRAY[$1] AND request_id IS NOT NULL GROUP BY request_id
)
SELECT memory_id, count(*) AS requests, sum(calls)::bigint AS calls, round(sum(tokens / parts.memories))::bigint AS tokens,
       coalesce(sum(micros / parts.memories), 0)::double precision AS micros
FROM changed JOIN parts USING (request_id) JOIN spent USING (request_id) JOIN memories USING (memory_id)
WHERE status <> 'deleted'
GROUP BY memory_id ORDER BY micros DESC, tokens DESC, memory_id LIMIT $2
