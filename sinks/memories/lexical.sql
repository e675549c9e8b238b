-- name: filters
-- Conditions of the filters, equal to schemas.retrieval.searches.Filters.accepts.
{statuses}
  AND ($3::text[] IS NULL OR kind = ANY ($3) OR kinds && $3)
  AND ($4::text[] IS NULL OR tags && $4)
  AND ($5::text[] IS NULL OR language = ANY ($5) OR split_part(language, '-', 1) = ANY ($5))
  AND confidence >= $6::float8 AND importance BETWEEN $7::float8 AND $8::float8
  AND ($9::timestamptz IS NULL OR created_at >= $9) AND ($10::timestamptz IS NULL OR created_at < $10)
  AND ($11::timestamptz IS NULL OR coalesce(event_time, valid_from, created_at) >= $11)
  AND ($12::timestamptz IS NULL OR coalesce(event_time, valid_from, created_at) < $12)
  AND ($13::timestamptz IS NULL OR ((valid_from IS NULL OR valid_from <= $13) AND coalesce(least(valid_until, expires_at) > $13, true)))
  AND ($14::boolean IS NULL OR pinned = $14)

-- name: live
-- Written as in the partial indexes of live memories.
status = 'active' AND $2::text[] IS NOT NULL

-- name: of_statuses
status = ANY ($2::text[])

-- name: matches
-- The $16 best memories for the words of the question $15, with scores up to 1. A word weighs the more, the fewer
-- memories have it (as in BM25). The score is the share of the question's weight that a memory has; the question weighs
-- at most as much as $18 words that one memory alone has. A match in the context or the full text counts half. Memories
-- with a word are counted up to $17, as more common words do not distinguish memories. English stop words are left out;
-- stop words of other languages are left out if no memory has them, as the language of the question is unknown.
WITH spaces AS (
    SELECT string_agg(quote_literal('/' || space), ' | ')::tsquery AS requested FROM unnest($1::text[]) AS space
), forms AS (
    SELECT config, lexeme, position
    FROM unnest('{simple,english,german,french,spanish,italian,portuguese,dutch,russian,swedish}'::regconfig[]) AS config,
        unnest(to_tsvector(config, search_words($15))) AS said (lexeme, positions, weights),
        unnest(positions) AS position
), words AS (
    SELECT min(position) AS word,
        string_agg(DISTINCT quote_literal(lexeme), ' | ')::tsquery AS strong,
        string_agg(DISTINCT quote_literal('~' || lexeme), ' | ')::tsquery AS weak,
        count(DISTINCT config) FILTER (WHERE config <> 'simple'::regconfig) < 9 AS binding
    FROM forms JOIN (
        SELECT position, lexeme AS plain FROM forms WHERE config = 'simple'::regconfig
    ) AS plain USING (position)
    WHERE EXISTS (SELECT FROM forms AS other WHERE other.position = forms.position AND other.config = 'english'::regconfig)
    GROUP BY plain ORDER BY word LIMIT 64
), matches AS (
    SELECT word, binding, memory_id, share
    FROM words CROSS JOIN spaces CROSS JOIN LATERAL (
        SELECT memory_id, max(share) AS share
        FROM (
            (SELECT memory_id, 1.0::float8 AS share FROM (
                SELECT * FROM memories
                WHERE searchable(namespace, text, tags, context, full_text, language) @@ (spaces.requested && words.strong)
                OFFSET 0 -- keeps the planner from using another index
            ) AS with_word WHERE {filters} LIMIT $17)
            UNION ALL
            (SELECT memory_id, 0.5::float8 FROM (
                SELECT * FROM memories
                WHERE searchable(namespace, text, tags, context, full_text, language) @@ (spaces.requested && words.weak)
                OFFSET 0 -- keeps the planner from using another index
            ) AS with_word WHERE {filters} LIMIT $17)
        ) AS either
        GROUP BY memory_id
    ) AS found
), total AS (
    SELECT count(*)::float8 AS memories FROM (
        SELECT FROM memories WHERE namespace = ANY ($1) AND {statuses} LIMIT 2 * $17
    ) AS live
), weights AS (
    SELECT word, ln(1 + (greatest(memories, known) - known + 0.5) / (known + 0.5)) AS weight
    FROM (
        SELECT word, words.binding, count(memory_id)::float8 AS known
        FROM words LEFT JOIN matches USING (word) GROUP BY word, words.binding
    ) AS counted CROSS JOIN total
    WHERE known > 0 OR NOT binding
), question AS MATERIALIZED (
    SELECT least(sum(weight), $18::float8 * ln(1 + (greatest(min(memories), 1) - 0.5) / 1.5)) AS weight FROM weights CROSS JOIN total
)
SELECT memory_id, least(1.0, sum(share * weights.weight) / min(question.weight)) AS score
FROM matches JOIN weights USING (word) CROSS JOIN question
GROUP BY memory_id ORDER BY score DESC, memory_id LIMIT $16

-- name: listed
-- Memories that pass the filters: each namespace is read by its index, then the lists are merged.
SELECT listed.* FROM unnest($1::text[]) AS space CROSS JOIN LATERAL (
    SELECT * FROM memories
    WHERE namespace = space AND {filters}
    ORDER BY importance DESC, coalesce(last_reinforced_at, event_time, valid_from, created_at) DESC, memory_id LIMIT $15
) AS listed
ORDER BY importance DESC, coalesce(last_reinforced_at, event_time, valid_from, created_at) DESC, memory_id LIMIT $15
