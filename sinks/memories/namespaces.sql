-- name: page
-- Namespaces with memories, by name. A purged one keeps its counter and has none.
SELECT namespace, (SELECT count(*) FROM memories WHERE memories.namespace = known.namespace AND status = 'active') AS live
FROM namespaces AS known
WHERE namespace > $1 AND namespace LIKE ANY ($2::text[]) AND strpos(lower(namespace), lower($3)) > 0
  AND EXISTS (SELECT FROM memories WHERE memories.namespace = known.namespace AND status <> 'deleted')
ORDER BY namespace LIMIT $4
