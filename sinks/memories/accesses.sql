-- name: add
-- A memory that is being erased is passed over, never waited for: whoever erases it may wait for this. Rows are taken in one
-- order, so that two processes that read the same memories do not wait for each other.
WITH there AS (
    SELECT memory_id FROM memories WHERE memory_id = ANY ($1::text[]) ORDER BY memory_id FOR KEY SHARE SKIP LOCKED
)
INSERT INTO memory_accesses AS kept (memory_id, access_count, last_accessed_at)
SELECT memory_id, count, at
FROM unnest($1::text[], $2::bigint[], $3::timestamptz[]) AS given (memory_id, count, at) JOIN there USING (memory_id)
ORDER BY memory_id
ON CONFLICT (memory_id) DO UPDATE SET
    access_count = kept.access_count + excluded.access_count,
    last_accessed_at = greatest(kept.last_accessed_at, excluded.last_accessed_at)

-- name: of
SELECT memory_id, access_count, last_accessed_at FROM memory_accesses WHERE memory_id = ANY ($1::text[])
