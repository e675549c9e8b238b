-- name: put
INSERT INTO outbox (namespace, target, topic, key, partition, headers, payload) VALUES ($1, $2, $3, $4, $5, $6, $7)

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
