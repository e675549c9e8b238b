-- name: record
INSERT INTO audit (at, actor, action, subject, details) VALUES ($1, $2, $3, $4, $5)

-- name: latest
SELECT at, actor, action, subject, details FROM audit ORDER BY id DESC LIMIT $1

-- name: page
SELECT id, at, actor, action, subject, details FROM audit
WHERE ($2::bigint IS NULL OR id < $2) AND ($3::text IS NULL OR action = $3) AND ($4::text IS NULL OR subject = $4)
ORDER BY id DESC LIMIT $1
