-- name: park
INSERT INTO parked (request_id, conversation_id, namespaces, lane, reason, not_before, deadline, batched, topic, partition,
                    position, timestamp_ms, key, value, headers, requested_at, shares, tokens)
VALUES ($1, $2, $3, $4, $5, $6, clock_timestamp() + $7::double precision * interval '1 second', $8, $9, $10, $11, $12, $13, $14,
        $15, $16, $17, $18)
ON CONFLICT DO NOTHING

-- name: holds
SELECT EXISTS (SELECT FROM parked WHERE request_id = $1)

-- name: hasten
UPDATE parked SET not_before = least(not_before, clock_timestamp()) WHERE request_id = $1 AND reason = $2 AND tries = 0

-- name: claim
-- Leases up to $2 due requests to owner $3 for $4 seconds and puts them into lane $1. By the database's clock, as
-- workers' clocks may differ. Lane `live` also takes background requests past their deadline; one in a batch only 2
-- days after it, when the batch must have ended and no worker handles the request. Its budget reservation for the batch
-- is released, as a single call reserves again.
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
RETURNING parked.request_id, lane, reason, tries, topic, partition, position, timestamp_ms, key, value, headers, shares, tokens

-- name: no_longer
-- Makes the requests with key $1 that wait to share a call due now, once those without a lease have $3 tokens together.
-- $2 is the reason for which they wait. Rows that another worker is claiming are skipped.
WITH waiting AS (
    SELECT request_id FROM parked
    WHERE shares = $1 AND reason = $2 AND tries = 0
      AND $3 <= (SELECT sum(tokens) FROM parked WHERE shares = $1 AND reason = $2 AND tries = 0 AND lease_until IS NULL)
    ORDER BY request_id
    FOR UPDATE SKIP LOCKED
)
UPDATE parked SET not_before = least(not_before, clock_timestamp()) FROM waiting WHERE parked.request_id = waiting.request_id

-- name: claim_companions
-- Leases requests that can share a call (key $1, lane $2, reason $3), in the order in which they were parked: at most
-- $7, with at most $4 tokens together. A request that failed before keeps its own pause and is left out.
WITH waiting AS (
    SELECT request_id, sum(tokens) OVER (ORDER BY parked_at, request_id) AS together
    FROM parked
    WHERE shares = $1 AND lane = $2 AND reason = $3 AND tries = 0 AND (lease_until IS NULL OR lease_until <= clock_timestamp())
), free AS (
    SELECT request_id FROM parked
    WHERE request_id IN (SELECT request_id FROM waiting WHERE together <= $4)
      AND (lease_until IS NULL OR lease_until <= clock_timestamp())
    ORDER BY parked_at, request_id
    LIMIT $7
    FOR UPDATE SKIP LOCKED
)
UPDATE parked SET lease_owner = $5, lease_until = clock_timestamp() + $6::double precision * interval '1 second'
FROM free WHERE parked.request_id = free.request_id
RETURNING parked.request_id, lane, reason, tries, topic, partition, position, timestamp_ms, key, value, headers, shares, tokens

-- name: renew
UPDATE parked SET lease_until = clock_timestamp() + $3::double precision * interval '1 second'
WHERE request_id = $1 AND lease_owner = $2
RETURNING true

-- name: set_aside
-- Sets a request aside, so that nobody claims it again. It is not deleted: the row is the only record of the request.
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
