-- name: processed
SELECT m.conversation_id,
       count(*) AS archived,
       count(*) FILTER (WHERE done.request_id IS NOT NULL) AS extracted,
       coalesce(array_agg(DISTINCT done.request_id) FILTER (WHERE done.request_id IS NOT NULL), '{}') AS request_ids,
       min(done.completed_at) AS completed_at
FROM messages m
LEFT JOIN LATERAL (
    SELECT e.request_id, e.completed_at
    FROM extractions e
    WHERE e.conversation_id = m.conversation_id
      AND e.partition = m.partition
      AND m.position BETWEEN e.first_position AND e.last_position
      AND e.completed_at IS NOT NULL
    LIMIT 1
) done ON true
WHERE m.conversation_id = ANY ($1)
GROUP BY m.conversation_id

-- name: unsettled
SELECT count(*) FROM outbox

-- name: unsearchable
SELECT count(*)
FROM messages m
WHERE m.conversation_id = ANY ($1) AND m.role IN ('user', 'assistant') AND m.content <> ''
  AND NOT EXISTS (SELECT FROM passages p WHERE p.conversation_id = m.conversation_id AND p.message_id = m.message_id)
