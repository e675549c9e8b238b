-- name: outcome
SELECT outcome FROM commands WHERE namespace = $1 AND command_id = $2

-- name: record
INSERT INTO commands (namespace, command_id, outcome, at)
SELECT $1, command_id, outcome, $4 FROM unnest($2::text[], $3::jsonb[]) AS given (command_id, outcome)

-- name: outcomes
SELECT namespace, command_id, outcome
FROM commands JOIN unnest($1::text[], $2::text[]) AS requested (namespace, command_id) USING (namespace, command_id)

-- name: settled
SELECT command_id FROM commands WHERE namespace = $1 AND command_id = ANY ($2::text[])
