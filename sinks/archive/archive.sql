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

-- name: scopes
-- The scope of each speaker, in the order of their first messages.
SELECT tenant_id, app_id, user_id, agent_id, mode
FROM messages
WHERE conversation_id = $1
GROUP BY tenant_id, app_id, user_id, agent_id, mode
ORDER BY min(archived_at), min(position)

-- name: scopes_of_several
SELECT conversation_id, tenant_id, app_id, user_id, agent_id, mode
FROM messages
WHERE conversation_id = ANY ($1::text[])
GROUP BY conversation_id, tenant_id, app_id, user_id, agent_id, mode
ORDER BY conversation_id, min(archived_at), min(position)

-- name: names
SELECT DISTINCT conversation_id, body->>'name' AS name, user_id IS NOT NULL AS of_user
FROM messages
WHERE conversation_id = ANY ($1::text[]) AND role = 'user' AND body->>'name' <> ''

-- name: present
SELECT conversation_id, message_id
FROM messages JOIN unnest($1::text[], $2::text[]) AS asked (conversation_id, message_id) USING (conversation_id, message_id)

-- name: message
SELECT partition, position, content, body
FROM messages
WHERE conversation_id = $1 AND message_id = $2

-- name: page
SELECT partition, position, content, body
FROM messages
WHERE conversation_id = $1 AND (partition, position) > ($2, $3)
ORDER BY partition, position
LIMIT $4

-- name: page_back
SELECT partition, position, content, body
FROM messages
WHERE conversation_id = $1 AND (partition, position) < ($2, $3)
ORDER BY partition DESC, position DESC
LIMIT $4

-- name: unextracted
-- Messages of conversation $1 that wait for extraction: the newest $3 at most, and none before the message that reaches
-- $4 bytes of content. Completed slices are read too, as a window's row lags behind them. A slice completed after $2
-- still counts as waiting: its memories are stored, but not yet found by every search. Each partition of a conversation
-- has its own window; messages before it opened belonged to another window, which was finished. Summaries of removed
-- messages have no namespace and extract nothing. Positions are compared as sets: joining the slices of a long
-- conversation to each message would be slow.
WITH done AS (
    SELECT e.partition,
           range_agg(int8range(e.first_position, e.last_position, '[]')) FILTER (WHERE e.completed_at <= $2) AS settled,
           range_agg(int8range(e.first_position, e.last_position, '[]')) FILTER (WHERE e.completed_at > $2) AS just_now
    FROM extractions e LEFT JOIN windows w USING (conversation_id, partition)
    WHERE e.conversation_id = $1 AND e.completed_at IS NOT NULL AND e.namespaces <> '{}'
      AND e.first_position <= e.last_position
      AND (e.completed_at > $2 OR e.last_position >= coalesce(greatest(w.extracted_to, w.opened), 0))
    GROUP BY e.partition
), waiting AS (
    SELECT m.partition, m.position, m.content, m.body, row_number() OVER latest AS newer,
           sum(octet_length(m.content)) OVER latest - octet_length(m.content) AS newer_bytes
    FROM messages m LEFT JOIN windows w USING (conversation_id, partition) LEFT JOIN done USING (partition)
    WHERE m.conversation_id = $1 AND m.role IN ('user', 'assistant') AND m.content <> ''
      AND (coalesce(m.position <@ just_now, false)
           OR m.position >= coalesce(greatest(w.extracted_to, w.opened), 0) AND NOT coalesce(m.position <@ settled, false))
    WINDOW latest AS (ORDER BY m.archived_at DESC, m.partition, m.position DESC)
)
SELECT partition, position, content, body
FROM waiting
WHERE newer <= $3 AND newer_bytes < $4

-- name: extracted
-- Those of these messages that a completed slice covers. Summaries of removed messages have no namespace and extract
-- nothing.
SELECT m.conversation_id, m.message_id, m.partition, m.position
FROM unnest($1::text[], $2::text[]) AS requested (conversation_id, message_id)
JOIN messages m USING (conversation_id, message_id)
WHERE EXISTS (
    SELECT FROM extractions e
    WHERE e.conversation_id = m.conversation_id AND e.partition = m.partition AND e.completed_at IS NOT NULL
      AND e.namespaces <> '{}' AND m.position BETWEEN e.first_position AND e.last_position
)

-- name: window
-- Messages of a window from position $3 on. Those in the gaps from $4 to $5 left the context: they are returned only
-- among the newest $6 messages, with their first 4,000 characters. They show where tasks begin, and are not returned to
-- clients.
WITH said AS (
    SELECT partition, position, content, body, row_number() OVER (ORDER BY position DESC) AS newer,
           EXISTS (SELECT FROM unnest($4::bigint[], $5::bigint[]) AS gap (first_position, last_position)
                   WHERE position BETWEEN first_position AND last_position) AS gone
    FROM messages
    WHERE conversation_id = $1 AND partition = $2 AND position >= $3
)
SELECT partition, position, CASE WHEN gone THEN left(content, 4000) ELSE content END AS content, body
FROM said
WHERE NOT gone OR newer <= $6
ORDER BY position

-- name: participants
-- Each user of these conversations with the user's first message. The recursion skips through the index from user to
-- user, so the length of a conversation does not matter. If the archive has no messages of users any more, the users
-- come from the windows.
WITH RECURSIVE people AS (
    SELECT requested.conversation_id,
           (SELECT min(user_id) FROM messages m WHERE m.conversation_id = requested.conversation_id AND user_id IS NOT NULL) AS user_id
    FROM unnest($1::text[]) AS requested (conversation_id)
    UNION ALL
    SELECT conversation_id,
           (SELECT min(user_id) FROM messages m
            WHERE m.conversation_id = people.conversation_id AND m.user_id > people.user_id AND m.user_id IS NOT NULL)
    FROM people WHERE user_id IS NOT NULL
)
SELECT people.conversation_id, people.user_id, first.*
FROM people CROSS JOIN LATERAL (
    SELECT tenant_id, app_id, agent_id, mode, partition, position, said_at
    FROM messages m
    WHERE m.conversation_id = people.conversation_id AND m.user_id = people.user_id
    ORDER BY position LIMIT 1) AS first
WHERE people.user_id IS NOT NULL
UNION ALL
SELECT w.conversation_id, user_id, tenant_id, app_id, agent_id, mode, partition, -1, timestamptz 'epoch'
FROM windows w
WHERE w.conversation_id = ANY ($1) AND user_id IS NOT NULL
  AND NOT EXISTS (SELECT FROM messages m WHERE m.conversation_id = w.conversation_id AND m.user_id IS NOT NULL)
