-- name: filters
-- What a memory must be: schemas.searches.Filters.accepts says the same.
namespace = ANY ($1::text[]) AND status = ANY ($2::text[])
  AND ($3::text[] IS NULL OR kind = ANY ($3) OR kinds && $3)
  AND ($4::text[] IS NULL OR tags && $4)
  AND ($5::text[] IS NULL OR language = ANY ($5) OR split_part(language, '-', 1) = ANY ($5))
  AND confidence >= $6::float8 AND importance BETWEEN $7::float8 AND $8::float8
  AND ($9::timestamptz IS NULL OR created_at >= $9) AND ($10::timestamptz IS NULL OR created_at < $10)
  AND ($11::timestamptz IS NULL OR coalesce(event_time, valid_from, created_at) >= $11)
  AND ($12::timestamptz IS NULL OR coalesce(event_time, valid_from, created_at) < $12)
  AND ($13::timestamptz IS NULL OR ((valid_from IS NULL OR valid_from <= $13) AND (valid_until IS NULL OR valid_until > $13)))
  AND ($14::boolean IS NULL OR pinned = $14)

-- name: matches
SELECT memory_id, ts_rank(to_tsvector('simple', text), asked, 32) AS score
FROM memories, replace(plainto_tsquery('simple', $15)::text, '&', '|')::tsquery AS asked
WHERE {filters} AND to_tsvector('simple', text) @@ asked
ORDER BY score DESC, memory_id LIMIT $16

-- name: listed
SELECT * FROM memories
WHERE {filters}
ORDER BY importance DESC, coalesce(last_reinforced_at, event_time, valid_from, created_at) DESC, memory_id LIMIT $15
