-- name: of_part
SELECT verdicts FROM resolutions WHERE request_id = $1 AND part = $2

-- name: keep
INSERT INTO resolutions (request_id, part, namespace, conversation_id, verdicts, answered_at)
VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (request_id, part) DO NOTHING

-- name: drop_part
DELETE FROM resolutions WHERE request_id = $1 AND part = $2
