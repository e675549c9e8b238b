-- name: store
-- Sorted by key: two writers with overlapping batches take the rows in the same order and cannot deadlock.
INSERT INTO messages (conversation_id, message_id, partition, position, tenant_id, app_id, user_id, agent_id, mode,
                      role, content, said_at, body)
SELECT * FROM unnest($1::text[], $2::text[], $3::integer[], $4::bigint[], $5::text[], $6::text[], $7::text[], $8::text[],
                     $9::text[], $10::text[], $11::text[], $12::timestamptz[], $13::jsonb[])
           AS given (conversation_id, message_id, partition, position, tenant_id, app_id, user_id, agent_id, mode,
                     role, content, said_at, body)
ORDER BY conversation_id, message_id, position
ON CONFLICT DO NOTHING

-- name: conversation
SELECT partition, position, content, body
FROM messages
WHERE conversation_id = $1 AND position > $2
ORDER BY position
LIMIT $3

-- name: latest
SELECT partition, position, content, body
FROM (SELECT * FROM messages WHERE conversation_id = $1 ORDER BY position DESC LIMIT $2) AS tail
ORDER BY position
