-- name: of_namespace
SELECT status, kind, count(*) AS memories, sum(reinforcement_count)::bigint AS reinforcements,
       count(*) FILTER (WHERE pinned) AS pinned, sum(importance) AS importance,
       min(created_at) AS oldest, max(updated_at) AS latest
FROM memories WHERE namespace = $1 AND status <> 'deleted'
GROUP BY status, kind

-- name: tags
SELECT tag, count(*) AS memories
FROM memories, unnest(tags) AS tag
WHERE namespace = $1 AND status = 'active'
GROUP BY tag ORDER BY count(*) DESC, tag LIMIT $2

-- name: counters
SELECT coalesce((SELECT sequence FROM namespaces WHERE namespace = $1), 0) AS sequence,
       (SELECT count(*) FROM memory_versions WHERE namespace = $1) AS versions,
       (SELECT purged_at FROM purges WHERE namespace = $1) AS purged_at,
       (SELECT coalesce(sum(access_count), 0)::bigint
        FROM memory_accesses JOIN memories USING (memory_id) WHERE namespace = $1) AS reads,
       (SELECT max(last_accessed_at)
        FROM memory_accesses JOIN memories USING (memory_id) WHERE namespace = $1) AS last_read_at,
       (SELECT count(*) FROM memory_accesses JOIN memories USING (memory_id)
        WHERE namespace = $1 AND status = 'active') AS live_read,
       (SELECT count(*) FROM memories WHERE namespace = $1) AS made

-- name: cost
-- A call's cost is shared evenly among its namespaces; what is left over goes to the first ones.
SELECT coalesce(sum(cost_micros / parts + (place <= cost_micros % parts)::integer), 0)::bigint
FROM (SELECT cost_micros, cardinality(namespaces) AS parts, array_position(namespaces, $1) AS place
      FROM model_usage WHERE namespaces @> ARRAY[$1]) AS shares

-- name: cost_of_memory
-- The cost of memory $1 in namespace $2. The tokens and the cost of a request are shared evenly among its namespaces,
-- and then among the memories that it changed in this one. Calls count whole.
WITH causes AS (
    SELECT DISTINCT cause->>'request_id' AS request_id
    FROM memory_versions WHERE memory_id = $1 AND cause->>'request_id' IS NOT NULL
), spent AS (
    SELECT request_id, sum(calls) AS calls,
           sum((input_tokens + output_tokens + cache_read_tokens + cache_write_tokens)::numeric / cardinality(namespaces)) AS tokens,
           sum(cost_micros::numeric / cardinality(namespaces)) AS micros
    FROM model_usage JOIN causes USING (request_id)
    WHERE namespaces @> ARRAY[$2] GROUP BY request_id
), changed AS (
    SELECT cause->>'request_id' AS request_id, count(DISTINCT memory_id) AS memories
    FROM memory_versions JOIN causes ON causes.request_id = cause->>'request_id'
    WHERE namespace = $2 GROUP BY cause->>'request_id'
)
SELECT count(*) AS requests, coalesce(sum(calls), 0)::bigint AS calls,
       coalesce(round(sum(tokens / memories)), 0)::bigint AS tokens,
       coalesce(sum(micros / memories), 0)::double precision AS micros
FROM spent JOIN changed USING (request_id)
