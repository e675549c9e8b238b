-- name: keep
INSERT INTO forgotten (wish_id, namespace, conversation_id, said_at, wish) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (wish_id) DO NOTHING

-- name: since
-- Wishes of a namespace that were said at or after $2.
SELECT wish FROM forgotten WHERE namespace = $1 AND said_at >= $2 ORDER BY said_at, wish_id

-- name: drop_old
-- Deletes wishes said before $1: candidates of even earlier messages cannot arrive any more.
DELETE FROM forgotten WHERE said_at < $1
