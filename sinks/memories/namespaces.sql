-- name: page
-- Namespaces with memories, by name. A purged namespace keeps its row for its counter, but has no memories.
SELECT namespace, (SELECT count(*) FROM memories WHERE memories.namespace = known.namespace AND status = 'active') AS live
FROM namespaces AS known
WHERE namespace > $1 AND namespace LIKE ANY ($2::text[]) AND strpos(lower(namespace), lower($3)) > 0
  AND EXISTS (SELECT FROM memories WHERE memories.namespace = known.namespace AND status <> 'deleted')
ORDER BY namespace LIMIT $4

-- name: largest
-- Namespaces with the most live memories.
SELECT namespace, count(*) AS live FROM memories
WHERE status = 'active' AND namespace LIKE ANY ($1::text[]) AND strpos(lower(namespace), lower($2)) > 0
GROUP BY namespace ORDER BY count(*) DESC, namespace LIMIT $3
