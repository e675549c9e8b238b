-- name: add
-- Adds counts of reads. A memory that is being erased is skipped: waiting for it could deadlock. Rows are locked in one
-- order, so that processes that read the same memories cannot deadlock.
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
