-- name: heads
SELECT namespace, sequence FROM namespaces WHERE namespace = ANY ($1::text[])

-- name: events_after
-- One statement, so that the namespace's counter and its changes are of the same moment. A namespace without changes behind
-- the sequence is one row without them.
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
