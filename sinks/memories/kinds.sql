-- name: keep
-- A new description replaces the old one; an empty one replaces nothing.
INSERT INTO kinds (namespace, name, description, icon, made_by, made_at) VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (namespace, name) DO UPDATE SET
    description = coalesce(nullif(excluded.description, ''), kinds.description),
    icon = coalesce(nullif(excluded.icon, ''), kinds.icon)

-- name: of_namespace
-- Kinds with a description, and kinds of live memories with their number.
SELECT name, coalesce(description, '') AS description, coalesce(icon, '') AS icon, coalesce(memories, 0) AS memories
FROM (SELECT name, description, icon FROM kinds WHERE namespace = $1) AS described
FULL JOIN (
    SELECT name, count(*) AS memories
    FROM memories, LATERAL unnest(array_prepend(kind, kinds)) AS name
    WHERE namespace = $1 AND status = 'active'
    GROUP BY name
) AS used USING (name)
ORDER BY name
LIMIT $2
