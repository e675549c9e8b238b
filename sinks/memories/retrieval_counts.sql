-- name: add
-- Adds counts. Rows are locked in one order, so that processes cannot deadlock. Counts that are older than any history
-- shown are deleted.
WITH outdated AS (
    DELETE FROM retrieval_counts WHERE namespace = ANY ($1::text[]) AND day < current_date - 400
)
INSERT INTO retrieval_counts AS kept (namespace, day, operation, asked, found)
SELECT * FROM unnest($1::text[], $2::date[], $3::text[], $4::bigint[], $5::bigint[]) AS given (namespace, day, operation, asked, found)
ORDER BY namespace, day, operation
ON CONFLICT (namespace, day, operation) DO UPDATE SET asked = kept.asked + excluded.asked, found = kept.found + excluded.found
