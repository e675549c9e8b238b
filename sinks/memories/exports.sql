-- name: existing
SELECT namespace FROM namespaces WHERE namespace = ANY ($1::text[]) ORDER BY namespace

-- name: page
SELECT * FROM memories
WHERE namespace = $1 AND memory_id > $2 AND status = ANY ($3::text[])
ORDER BY memory_id LIMIT $4

-- name: versions
SELECT memory_id, version, namespace, change, before, after, cause, at
FROM memory_versions WHERE memory_id = ANY ($1::text[]) ORDER BY memory_id, version
