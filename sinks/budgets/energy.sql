-- name: now
-- The time $1, or by default the database's clock, as workers' clocks may differ.
SELECT coalesce($1::timestamptz, clock_timestamp())

-- name: open
-- Adds missing rows in the order in which they are locked, so that concurrent transactions cannot deadlock.
INSERT INTO energy (scope) SELECT scope FROM unnest($1::text[]) AS scope ORDER BY scope
ON CONFLICT DO NOTHING

-- name: lock
-- A row with a later hour than the caller's clock is valid: that hour has begun for another worker.
SELECT scope,
       CASE WHEN hour >= date_trunc('hour', $2::timestamptz, 'UTC') THEN hour_tokens ELSE 0 END AS hour_tokens,
       CASE WHEN hour >= date_trunc('hour', $2::timestamptz, 'UTC') THEN hour_micros ELSE 0 END AS hour_micros,
       CASE WHEN day >= date_trunc('day', $2::timestamptz, 'UTC') THEN day_tokens ELSE 0 END AS day_tokens,
       CASE WHEN day >= date_trunc('day', $2::timestamptz, 'UTC') THEN day_micros ELSE 0 END AS day_micros
FROM energy WHERE scope = ANY($1) ORDER BY scope FOR UPDATE

-- name: levels
SELECT scope,
       CASE WHEN hour >= date_trunc('hour', $2::timestamptz, 'UTC') THEN hour_tokens ELSE 0 END AS hour_tokens,
       CASE WHEN hour >= date_trunc('hour', $2::timestamptz, 'UTC') THEN hour_micros ELSE 0 END AS hour_micros,
       CASE WHEN day >= date_trunc('day', $2::timestamptz, 'UTC') THEN day_tokens ELSE 0 END AS day_tokens,
       CASE WHEN day >= date_trunc('day', $2::timestamptz, 'UTC') THEN day_micros ELSE 0 END AS day_micros
FROM energy WHERE scope = ANY($1)

-- name: expire
-- Deletes expired reservations, which crashed workers left.
DELETE FROM energy_reservations WHERE scope = ANY($1) AND expires_at <= $2

-- name: reserved
SELECT scope, sum(tokens)::bigint AS tokens, sum(micros)::bigint AS micros
FROM energy_reservations WHERE scope = ANY($1) AND expires_at > $2 GROUP BY scope

-- name: reserve
INSERT INTO energy_reservations (scope, reservation_id, tokens, micros, expires_at)
SELECT scope, $2, tokens, micros, $5::timestamptz + $6::double precision * interval '1 second'
FROM unnest($1::text[], $3::bigint[], $4::bigint[]) AS requested (scope, tokens, micros)
ON CONFLICT (scope, reservation_id)
DO UPDATE SET tokens = excluded.tokens, micros = excluded.micros, expires_at = excluded.expires_at

-- name: reserved_in
SELECT scope FROM energy_reservations WHERE reservation_id = $1

-- name: release
DELETE FROM energy_reservations WHERE scope = ANY($1) AND reservation_id = $2

-- name: spend
UPDATE energy
SET hour_tokens = spent.tokens + CASE WHEN hour >= date_trunc('hour', $4::timestamptz, 'UTC') THEN hour_tokens ELSE 0 END,
    hour_micros = spent.micros + CASE WHEN hour >= date_trunc('hour', $4::timestamptz, 'UTC') THEN hour_micros ELSE 0 END,
    hour = greatest(hour, date_trunc('hour', $4::timestamptz, 'UTC')),
    day_tokens = spent.tokens + CASE WHEN day >= date_trunc('day', $4::timestamptz, 'UTC') THEN day_tokens ELSE 0 END,
    day_micros = spent.micros + CASE WHEN day >= date_trunc('day', $4::timestamptz, 'UTC') THEN day_micros ELSE 0 END,
    day = greatest(day, date_trunc('day', $4::timestamptz, 'UTC'))
FROM unnest($1::text[], $2::bigint[], $3::bigint[]) AS spent (scope, tokens, micros)
WHERE energy.scope = spent.scope

-- name: record
INSERT INTO model_usage (usage_id, at, operation, lane, outcome, provider, model, calls, input_tokens, output_tokens,
                         cache_read_tokens, cache_write_tokens, cost_micros, batched, namespaces, request_id, conversation_id)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)
ON CONFLICT DO NOTHING
RETURNING usage_id
