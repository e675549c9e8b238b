-- name: lock
SELECT pg_advisory_xact_lock(5200002)
