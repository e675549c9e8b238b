-- name: unpublished
SELECT usage_id, at, operation, lane, outcome, provider, model, calls, input_tokens, output_tokens, cache_read_tokens,
       cache_write_tokens, cost_micros, batched, namespaces, request_id, conversation_id
FROM model_usage WHERE NOT told ORDER BY at LIMIT $1 FOR UPDATE SKIP LOCKED

-- name: mark_published
UPDATE model_usage SET told = true WHERE usage_id = ANY($1)

-- name: totals
SELECT operation, lane, provider, model,
       count(*) FILTER (WHERE outcome = 'answered') AS answered,
       count(*) FILTER (WHERE outcome = 'failed') AS failed,
       sum(calls)::bigint AS calls,
       sum(input_tokens)::bigint AS input_tokens,
       sum(output_tokens)::bigint AS output_tokens,
       sum(cache_read_tokens)::bigint AS cache_read_tokens,
       sum(cache_write_tokens)::bigint AS cache_write_tokens,
       coalesce(sum(cost_micros), 0)::bigint AS cost_micros,
       count(*) FILTER (WHERE cost_micros IS NULL) AS unpriced
FROM model_usage
WHERE at >= $1 AND at < $2
GROUP BY operation, lane, provider, model
ORDER BY operation, lane, provider, model

-- name: totals_of_namespace
-- A record's numbers are shared evenly among its namespaces; what is left over goes to the first ones.
WITH shared AS (
    SELECT model_usage.*, cardinality(namespaces) AS parts, array_position(namespaces, $3) AS place
    FROM model_usage
    WHERE at >= $1 AND at < $2 AND namespaces @> ARRAY[$3]
)
SELECT operation, lane, provider, model,
       count(*) FILTER (WHERE outcome = 'answered') AS answered,
       count(*) FILTER (WHERE outcome = 'failed') AS failed,
       sum(calls)::bigint AS calls,
       sum(input_tokens / parts + (place <= input_tokens % parts)::integer)::bigint AS input_tokens,
       sum(output_tokens / parts + (place <= output_tokens % parts)::integer)::bigint AS output_tokens,
       sum(cache_read_tokens / parts + (place <= cache_read_tokens % parts)::integer)::bigint AS cache_read_tokens,
       sum(cache_write_tokens / parts + (place <= cache_write_tokens % parts)::integer)::bigint AS cache_write_tokens,
       coalesce(sum(cost_micros / parts + (place <= cost_micros % parts)::integer), 0)::bigint AS cost_micros,
       count(*) FILTER (WHERE cost_micros IS NULL) AS unpriced
FROM shared
GROUP BY operation, lane, provider, model
ORDER BY operation, lane, provider, model
