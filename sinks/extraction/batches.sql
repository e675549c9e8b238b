-- name: one_at_a_time
-- Returns false if another worker is forming a batch: concurrent workers would form two batches of half the size.
SELECT pg_try_advisory_xact_lock($1)

-- name: candidates
SELECT request_id, octet_length(value) AS bytes,
       extract(epoch FROM clock_timestamp() - parked_at)::double precision AS waited_s
FROM parked
WHERE batched AND batch_key IS NULL AND not_before <= clock_timestamp() AND deadline > clock_timestamp()
ORDER BY parked_at
LIMIT $1
FOR UPDATE SKIP LOCKED

-- name: form
INSERT INTO batches (batch_key, state, requests) VALUES ($1, 'forming', $2)

-- name: put_in
UPDATE parked SET batch_key = $1, related = '{}' WHERE request_id = ANY ($2)

-- name: claim
UPDATE batches
SET lease_owner = $1, lease_until = clock_timestamp() + $2::double precision * interval '1 second'
WHERE batch_key = (
    SELECT batch_key
    FROM batches
    WHERE state <> 'ended' AND look_at <= clock_timestamp()
      AND (lease_until IS NULL OR lease_until <= clock_timestamp())
    ORDER BY look_at
    LIMIT 1
    FOR UPDATE SKIP LOCKED)
RETURNING batch_key, state, provider_id, requests, looks, sent_at,
          extract(epoch FROM clock_timestamp() - sent_at)::double precision AS sent_s_ago

-- name: renew
UPDATE batches SET lease_until = clock_timestamp() + $3::double precision * interval '1 second'
WHERE batch_key = $1 AND lease_owner = $2
RETURNING true

-- name: later
UPDATE batches
SET look_at = clock_timestamp() + $3::double precision * interval '1 second', looks = looks + 1, lease_owner = NULL,
    lease_until = NULL
WHERE batch_key = $1 AND lease_owner = $2

-- name: members
SELECT request_id, lane, reason, tries, topic, partition, position, timestamp_ms, key, value, headers, related, reservation
FROM parked WHERE batch_key = $1 ORDER BY parked_at

-- name: member
SELECT request_id, lane, reason, tries, topic, partition, position, timestamp_ms, key, value, headers, related, reservation
FROM parked WHERE batch_key = $1 AND request_id = $2

-- name: submitting
UPDATE batches SET state = 'submitting', requests = $3, sent_at = clock_timestamp(), looks = 0
WHERE batch_key = $1 AND lease_owner = $2 AND state = 'forming'
RETURNING true

-- name: store_context
UPDATE parked SET related = $4, reservation = $5
WHERE request_id = $3 AND batch_key = $1 AND EXISTS (SELECT FROM batches WHERE batch_key = $1 AND lease_owner = $2)
RETURNING true

-- name: submitted
UPDATE batches
SET state = 'submitted', provider_id = $3, looks = 0,
    look_at = clock_timestamp() + $4::double precision * interval '1 second', lease_owner = NULL, lease_until = NULL
WHERE batch_key = $1 AND lease_owner = $2

-- name: known
SELECT provider_id FROM batches WHERE provider_id = ANY ($1)

-- name: back
UPDATE parked
SET batch_key = NULL, not_before = clock_timestamp() + $3::double precision * interval '1 second'
WHERE batch_key = $1 AND EXISTS (SELECT FROM batches WHERE batch_key = $1 AND lease_owner = $2)

-- name: dissolve
DELETE FROM batches WHERE batch_key = $1 AND lease_owner = $2

-- name: leave
UPDATE parked
SET batch_key = NULL, batched = $4, reason = $5, not_before = greatest($6, clock_timestamp()),
    reservation = CASE WHEN $4 THEN reservation END
WHERE request_id = $3 AND batch_key = $1 AND EXISTS (SELECT FROM batches WHERE batch_key = $1 AND lease_owner = $2)

-- name: finish
DELETE FROM parked
WHERE request_id = $3 AND batch_key = $1 AND EXISTS (SELECT FROM batches WHERE batch_key = $1 AND lease_owner = $2)

-- name: all_leave
UPDATE parked
SET batch_key = NULL, batched = false, reason = $2, not_before = clock_timestamp(), reservation = NULL
WHERE batch_key = $1

-- name: end
UPDATE batches SET state = 'ended', ended_at = clock_timestamp(), lease_owner = NULL, lease_until = NULL
WHERE batch_key = $1 AND lease_owner = $2
RETURNING true

-- name: forget
DELETE FROM batches WHERE state = 'ended' AND ended_at < clock_timestamp() - $1::double precision * interval '1 second'
