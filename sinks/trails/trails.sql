-- name: message
SELECT role, partition, position, said_at, archived_at FROM messages WHERE conversation_id = $1 AND message_id = $2

-- name: passages
SELECT namespace, count(*) AS pieces FROM passages WHERE conversation_id = $1 AND message_id = $2
GROUP BY namespace ORDER BY namespace

-- name: extractions
-- Requests whose slices include the message. Those of replays, which have shadow namespaces, are left out.
SELECT request_id, policy, policy_version, namespaces, requested_at, stored_at, completed_at, failed_at, failed_reason, provider,
       model, jsonb_array_length(jsonb_path_query_array(coalesce(answer, '{}'), '$.proposals[*] ? (!exists(@.wish))')) AS proposals,
       answer IS NULL AND lease_until > clock_timestamp() AS under_way
FROM extractions
WHERE conversation_id = $1 AND partition = $2 AND first_position <= $3 AND last_position >= $3
  AND NOT EXISTS (SELECT FROM unnest(namespaces) AS fed WHERE fed LIKE '~%')
ORDER BY requested_at, request_id
LIMIT $4

-- name: parked
SELECT request_id, lane, reason, parked_at, not_before FROM parked
WHERE conversation_id = $1 ORDER BY parked_at LIMIT $2

-- name: parts
SELECT request_id, namespace, outcome->>'status' AS status, outcome->'rulings' AS rulings, committed_at
FROM extraction_parts WHERE request_id = ANY ($1) ORDER BY committed_at, request_id, part

-- name: usage
SELECT request_id, sum(calls)::bigint AS calls,
       sum(input_tokens + output_tokens + cache_read_tokens + cache_write_tokens)::bigint AS tokens,
       sum(cost_micros)::bigint AS cost_micros
FROM model_usage WHERE request_id = ANY ($1) AND namespaces && $2::text[] GROUP BY request_id

-- name: changes
-- Every change of memories that have the message as a source. Changes that are still in the outbox are not published
-- yet.
SELECT v.memory_id, v.version, v.namespace, v.change, v.at, v.cause, v.after->>'text' AS text,
       (v.after->>'sequence')::bigint AS sequence,
       NOT EXISTS (SELECT FROM outbox o WHERE o.namespace = v.namespace AND o.target = 'kafka') AS published
FROM memories m JOIN memory_versions v USING (memory_id)
WHERE m.sources @> jsonb_build_array(jsonb_build_object('conversation_id', $1::text, 'message_id', $2::text))
  AND m.namespace NOT LIKE '~%'
ORDER BY v.at, v.namespace, sequence
LIMIT $3
