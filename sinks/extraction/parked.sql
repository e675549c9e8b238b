-- name: park
INSERT INTO parked (request_id, conversation_id, namespaces, lane, reason, not_before, deadline, batched, topic, partition,
                    position, timestamp_ms, key, value, headers, requested_at)
VALUES ($1, $2, $3, $4, $5, $6, clock_timestamp() + $7::double precision * interval '1 second', $8, $9, $10, $11, $12, $13, $14,
        $15, $16)
ON CONFLICT DO NOTHING

-- name: holds
SELECT EXISTS (SELECT FROM parked WHERE request_id = $1)

-- name: claim
-- The database's clock counts: the workers' clocks may differ. What is past its deadline goes with what is live: if it lies in a
-- batch only when that must have ended long ago, so that nobody seems to look after it. What was reserved for a batch is given
-- back: who is asked alone reserves anew.
WITH due AS (
    SELECT request_id, reservation
    FROM parked
    WHERE (lease_until IS NULL OR lease_until <= clock_timestamp())
      AND (NOT batched AND lane = $1 AND not_before <= clock_timestamp()
           OR $1 = 'live' AND lane = 'background' AND deadline <= clock_timestamp()
              AND (batch_key IS NULL OR deadline <= clock_timestamp() - interval '2 days'))
    ORDER BY not_before
    LIMIT $2
    FOR UPDATE SKIP LOCKED
), given_back AS (
    DELETE FROM energy_reservations WHERE reservation_id IN (SELECT reservation FROM due)
)
UPDATE parked
SET lane = $1, batched = false, batch_key = NULL, reservation = NULL, lease_owner = $3,
    lease_until = clock_timestamp() + $4::double precision * interval '1 second'
FROM due WHERE parked.request_id = due.request_id
RETURNING parked.request_id, lane, reason, tries, topic, partition, position, timestamp_ms, key, value, headers

-- name: renew
UPDATE parked SET lease_until = clock_timestamp() + $3::double precision * interval '1 second'
WHERE request_id = $1 AND lease_owner = $2
RETURNING true

-- name: set_aside
-- Not removed: it is all that is left of what was asked.
UPDATE parked
SET not_before = 'infinity', deadline = 'infinity', reason = $2, batched = false, batch_key = NULL, lease_owner = NULL,
    lease_until = NULL
WHERE request_id = $1

-- name: put_off
UPDATE parked
SET not_before = greatest($3, clock_timestamp() + $5::double precision * interval '1 second'), reason = $4, tries = 0,
    lease_owner = NULL, lease_until = NULL
WHERE request_id = $1 AND lease_owner = $2

-- name: try_again
UPDATE parked
SET not_before = clock_timestamp() + $3::double precision * interval '1 second', tries = tries + 1, lease_owner = NULL,
    lease_until = NULL
WHERE request_id = $1 AND lease_owner = $2

-- name: release
UPDATE parked SET lease_owner = NULL, lease_until = NULL WHERE request_id = $1 AND lease_owner = $2

-- name: remove
DELETE FROM parked WHERE request_id = $1 AND lease_owner = $2

-- name: waiting
SELECT lane, count(*) AS requests, count(*) FILTER (WHERE batched) AS batched FROM parked GROUP BY lane
