-- name: outcome
SELECT outcome FROM commands WHERE namespace = $1 AND command_id = $2

-- name: record
INSERT INTO commands (namespace, command_id, outcome, at) VALUES ($1, $2, $3, $4)
