-- name: lock
SELECT pg_advisory_xact_lock(hashtextextended($1, 2))

-- name: recorded
SELECT topic, partition, origin_offset FROM origins WHERE consumer_group = $1

-- name: fix
INSERT INTO origins (consumer_group, topic, partition, origin_offset)
SELECT $1, * FROM unnest($2::text[], $3::integer[], $4::bigint[])
