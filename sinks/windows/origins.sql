-- name: lock
SELECT pg_advisory_xact_lock(hashtextextended($1, 2))

-- name: recorded
SELECT topic, partition, origin_offset FROM origins WHERE consumer_group = $1

-- name: fix
INSERT INTO origins (consumer_group, topic, partition, origin_offset, skipped)
SELECT $1, * FROM unnest($2::text[], $3::integer[], $4::bigint[], $5::bigint[])

-- name: skipped
SELECT consumer_group, topic, sum(skipped)::bigint AS skipped
FROM origins
WHERE skipped > 0
GROUP BY consumer_group, topic
ORDER BY consumer_group, topic

-- name: installed
SELECT min(applied) FROM public._pogo_migration
