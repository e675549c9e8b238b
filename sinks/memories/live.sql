-- name: heads
-- Values of which one changes with every change of a namespace's memories.
SELECT namespace, sequence, purged_at
FROM namespaces LEFT JOIN purges USING (namespace) WHERE namespace = ANY ($1::text[])

-- name: of
SELECT * FROM memories WHERE namespace = $1 AND status = 'active' ORDER BY created_at, memory_id
