-- name: lease
-- Leases request $1 to owner $10 for $11 seconds, by the database's clock, as workers' clocks may differ. Returns no
-- row if the request has an answer, if it failed and its dead letter is not written yet, or if another owner's lease
-- has not expired.
INSERT INTO extractions (request_id, conversation_id, partition, first_position, last_position, policy, policy_version,
                         namespaces, requested_at, lease_owner, lease_until)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, clock_timestamp() + $11::double precision * interval '1 second')
ON CONFLICT (request_id) DO UPDATE SET lease_owner = excluded.lease_owner, lease_until = excluded.lease_until
WHERE extractions.answer IS NULL
  AND (extractions.failed_reason IS NULL OR extractions.failed_at IS NOT NULL)
  AND (extractions.lease_until IS NULL
       OR extractions.lease_until <= clock_timestamp()
       OR extractions.lease_owner = excluded.lease_owner)
RETURNING lease_until

-- name: state
SELECT answer::text AS answer, lease_until, lease_owner, failed_reason, failed_at, completed_at
FROM extractions WHERE request_id = $1

-- name: renew
UPDATE extractions SET lease_until = clock_timestamp() + $3::double precision * interval '1 second'
WHERE request_id = $1 AND lease_owner = $2 AND answer IS NULL
RETURNING lease_until

-- name: release
UPDATE extractions SET lease_owner = NULL, lease_until = NULL
WHERE request_id = $1 AND lease_owner = $2

-- name: store_answer
-- Stores the answer $2 of request $1, unless it has one, and returns the stored text. Proposals covered by an erasure
-- since the request are left out: all of them, if all namespaces of the request, or its conversation, were erased;
-- otherwise those for erased namespaces alone and, if a user was erased, those that the user said or whose speakers are
-- unknown. purges.sql explains the 5 seconds.
WITH requested AS (
    SELECT *, ARRAY(SELECT fed FROM unnest(namespaces) AS fed
                    WHERE EXISTS (SELECT FROM purges
                                  WHERE namespace = standing_for(fed)
                                    AND purged_at >= requested_at
                                        - CASE WHEN first_position >= (positions->>partition::text)::bigint
                                               THEN interval '0' ELSE interval '5 seconds' END)) AS erased
    FROM extractions WHERE request_id = $1
), erasing AS (
    SELECT e.kind, e.user_id
    FROM requested JOIN erased_conversations USING (conversation_id) JOIN erasures e USING (erasure_id)
    WHERE e.at >= requested.requested_at
              - CASE WHEN requested.first_position >= (e.positions->>requested.partition::text)::bigint
                     THEN interval '0' ELSE interval '5 seconds' END
)
UPDATE extractions
SET answer = CASE WHEN requested.namespaces <> '{}' AND requested.namespaces <@ requested.erased
                    OR EXISTS (SELECT FROM erasing WHERE kind <> 'user')
                  THEN $2::text::jsonb - 'proposals'
                  WHEN requested.erased <> '{}' OR EXISTS (SELECT FROM erasing)
                  THEN without_erased($2::text::jsonb, requested.erased, ARRAY(SELECT user_id FROM erasing))
                  ELSE $2::text::jsonb END,
    provider = $3, model = $4, usage = $5, parts = $6, stored_at = clock_timestamp(),
    lease_owner = NULL, lease_until = NULL, failed_at = NULL, failed_reason = NULL
FROM requested
WHERE extractions.request_id = $1 AND extractions.answer IS NULL
RETURNING extractions.answer::text AS answer

-- name: fail
-- Stores the reason of a failure, unless a worker has the lease. The failure is final, at `failed_at`, once its dead
-- letter is written.
UPDATE extractions SET failed_at = NULL, failed_reason = $2, lease_owner = NULL, lease_until = NULL
WHERE request_id = $1 AND answer IS NULL AND (lease_until IS NULL OR lease_until <= clock_timestamp())

-- name: failure_told
-- Makes a failure final and cuts the detail off its reason. The detail may quote messages: from now on only the dead
-- letter has it, where an erasure finds it.
UPDATE extractions SET failed_at = clock_timestamp(), failed_reason = split_part(failed_reason, ': ', 1)
WHERE request_id = $1 AND answer IS NULL AND failed_reason IS NOT NULL

-- name: ensure
-- Adds a row for a request that has none: its candidates were published by hand, or the row was lost.
INSERT INTO extractions (request_id, conversation_id, partition, policy, policy_version, provider, parts)
VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT DO NOTHING

-- name: lock
SELECT completed_at FROM extractions WHERE request_id = $1 FOR UPDATE

-- name: part
SELECT outcome FROM extraction_parts WHERE request_id = $1 AND part = $2

-- name: record_part
INSERT INTO extraction_parts (request_id, part, namespace, outcome, committed_at) VALUES ($1, $2, $3, $4, $5)

-- name: count_parts
SELECT count(*) FROM extraction_parts WHERE request_id = $1

-- name: results
-- Counts the candidates of all parts by their result.
SELECT ruling ->> 'result' AS result, count(*) AS candidates
FROM extraction_parts, jsonb_array_elements(outcome -> 'rulings') AS ruling
WHERE request_id = $1
GROUP BY 1
ORDER BY 1

-- name: complete
UPDATE extractions SET completed_at = $2 WHERE request_id = $1
