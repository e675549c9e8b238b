-- name: forget_workers
DELETE FROM provider_states WHERE at < clock_timestamp() - $1::double precision * interval '1 second'

-- name: note_providers
INSERT INTO provider_states (worker, provider, breaker, available, at)
SELECT $1, provider, breaker, available, clock_timestamp()
FROM unnest($2::text[], $3::text[], $4::boolean[]) AS noted (provider, breaker, available)
ON CONFLICT (worker, provider)
DO UPDATE SET breaker = excluded.breaker, available = excluded.available, at = excluded.at

-- name: providers
SELECT provider, breaker, available, count(*) AS workers, max(at) AS at
FROM provider_states
WHERE at >= clock_timestamp() - $1::double precision * interval '1 second'
GROUP BY provider, breaker, available
ORDER BY provider, workers DESC

-- name: parked
SELECT lane, reason, count(*) AS requests, min(parked_at) AS oldest_at, count(*) FILTER (WHERE batched) AS batched
FROM parked GROUP BY lane, reason ORDER BY requests DESC, lane, reason LIMIT $1

-- name: under_way
SELECT (SELECT count(*) FROM extractions WHERE answer IS NULL AND lease_until > clock_timestamp()) AS calls,
       (SELECT count(*) FROM outbox) AS outbox,
       (SELECT min(created_at) FROM outbox) AS outbox_since
