-- name: record
INSERT INTO audit (at, actor, action, subject, details) VALUES ($1, $2, $3, $4, $5)

-- name: latest
SELECT at, actor, action, subject, details FROM audit ORDER BY id DESC LIMIT $1
