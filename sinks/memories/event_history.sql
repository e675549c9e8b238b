-- name: heads
SELECT namespace, sequence FROM namespaces WHERE namespace = ANY ($1::text[])

-- name: events_after
-- The next $3 changes of a namespace after sequence $2, with its counter. One statement, so that both are of the same
-- moment. Without changes after $2, the result is one row whose columns of a change are null.
SELECT head.sequence AS head, coalesce(purges.purged_at, now()) AS purged_at, changed.*
FROM namespaces AS head
     LEFT JOIN purges USING (namespace)
     LEFT JOIN LATERAL (
         SELECT (after->>'sequence')::bigint AS sequence, change, before, after, cause, at
         FROM memory_versions
         WHERE memory_versions.namespace = head.namespace AND (after->>'sequence')::bigint > $2
         ORDER BY (after->>'sequence')::bigint
         LIMIT $3) AS changed ON true
WHERE head.namespace = $1
ORDER BY changed.sequence
