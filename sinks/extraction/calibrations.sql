-- name: all
SELECT model, mean, observed FROM calibrations

-- name: lock
SELECT mean, observed FROM calibrations WHERE model = $1 FOR UPDATE

-- name: begin
INSERT INTO calibrations (model, mean, observed, updated_at) VALUES ($1, $2, $3, clock_timestamp())
ON CONFLICT DO NOTHING
RETURNING model

-- name: change
UPDATE calibrations SET mean = $2, observed = $3, updated_at = clock_timestamp() WHERE model = $1
