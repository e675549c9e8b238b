-- name: create
INSERT INTO keys (key_id, name, hash, grants, created_at, expires_at) VALUES ($1, $2, $3, $4, $5, $6)

-- name: find
SELECT * FROM keys WHERE key_id = $1

-- name: all
SELECT * FROM keys ORDER BY created_at, key_id

-- name: revoke
UPDATE keys SET revoked_at = $2 WHERE (key_id = $1 OR name = $1) AND revoked_at IS NULL RETURNING *

-- name: used
-- Keeps the latest time that any process reports.
UPDATE keys SET last_used_at = greatest(last_used_at, used.at)
FROM unnest($1::text[], $2::timestamptz[]) AS used (key_id, at)
WHERE keys.key_id = used.key_id
