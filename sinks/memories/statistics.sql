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
        FROM memory_accesses JOIN memories USING (memory_id) WHERE namespace = $1) AS last_read_at
