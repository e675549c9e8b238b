-- name: put_records
-- The ids follow the order of the given records.
INSERT INTO outbox (namespace, target, topic, key, partition, headers, payload)
SELECT $1, 'kafka', topic, key, partition, headers::jsonb, payload
FROM unnest($2::text[], $3::bytea[], $4::integer[], $5::text[], $6::bytea[])
     WITH ORDINALITY AS given (topic, key, partition, headers, payload, place)
ORDER BY place

-- name: put_vectors
INSERT INTO outbox (namespace, target, key)
SELECT $1, 'vector', key FROM unnest($2::bytea[]) WITH ORDINALITY AS given (key, place) ORDER BY place

-- name: pending
SELECT id, target, topic, key, partition, headers, payload
FROM outbox WHERE namespace = $1 ORDER BY id LIMIT $2

-- name: done
DELETE FROM outbox WHERE namespace = $1 AND id <= $2

-- name: forgotten
SELECT namespace
FROM outbox
WHERE created_at <= clock_timestamp() - $1::double precision * interval '1 second'
GROUP BY namespace
ORDER BY min(created_at)
LIMIT $2
