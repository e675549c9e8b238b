-- name: known
-- Those of these messages that have passages already.
SELECT DISTINCT namespace, conversation_id, message_id
FROM passages JOIN unnest($1::text[], $2::text[], $3::text[]) AS requested (namespace, conversation_id, message_id)
    USING (namespace, conversation_id, message_id)

-- name: lock
-- Writers share the lock. The deletion of points from Qdrant takes it alone, so that no point is rewritten meanwhile.
SELECT pg_advisory_xact_lock_shared(5200003)

-- name: lock_alone
SELECT pg_advisory_xact_lock(5200003)

-- name: lock_partitions
-- Locks partitions of the messages topic. A conversation is in one partition, so its passages have one writer at a
-- time, which numbers them.
SELECT pg_advisory_xact_lock(5200004, partition)
FROM (SELECT DISTINCT partition FROM unnest($1::integer[]) AS requested (partition) ORDER BY partition) AS requested

-- name: numbers
SELECT DISTINCT conversation_id, message_id, ordinal
FROM passages JOIN unnest($1::text[], $2::text[]) AS requested (conversation_id, message_id) USING (conversation_id, message_id)

-- name: ends
-- The first and the last message with passages of each conversation.
SELECT DISTINCT p.conversation_id, p.message_id, p.ordinal, m.said_at, m.partition, m.position
FROM unnest($1::text[]) AS requested (conversation_id)
     CROSS JOIN LATERAL (SELECT min(ordinal) AS first, max(ordinal) AS last
                         FROM passages WHERE conversation_id = requested.conversation_id) AS ends
     JOIN passages p ON p.conversation_id = requested.conversation_id AND p.ordinal IN (ends.first, ends.last)
     JOIN messages m ON m.conversation_id = p.conversation_id AND m.message_id = p.message_id
ORDER BY p.conversation_id, p.ordinal

-- name: all_numbered
SELECT DISTINCT p.conversation_id, p.message_id, p.ordinal, m.said_at, m.partition, m.position
FROM passages p JOIN messages m USING (conversation_id, message_id)
WHERE p.conversation_id = $1
ORDER BY p.ordinal

-- name: move
UPDATE passages p SET ordinal = given.ordinal
FROM unnest($2::text[], $3::integer[]) AS given (message_id, ordinal)
WHERE p.conversation_id = $1 AND p.message_id = given.message_id

-- name: store
-- Stores passages of archived messages; messages that were erased or expired meanwhile must not be indexed. The
-- messages are locked until the commit.
INSERT INTO passages (passage_id, namespace, conversation_id, message_id, piece, ordinal, said_at, speaker, digest, version,
                      clean_under, source_digest, terms)
SELECT passage_id, namespace, conversation_id, message_id, piece, ordinal, given.said_at, speaker, digest, version,
       clean_under, source_digest, string_to_array(terms, ' ')::integer[]
FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::smallint[], $6::integer[], $7::timestamptz[], $8::text[],
            $9::integer[], $10::smallint[], $11::integer[], $12::integer[], $13::text[])
         AS given (passage_id, namespace, conversation_id, message_id, piece, ordinal, said_at, speaker, digest, version,
                   clean_under, source_digest, terms)
     JOIN messages m USING (conversation_id, message_id)
ORDER BY passage_id
FOR KEY SHARE OF m
ON CONFLICT DO NOTHING
RETURNING passage_id::text

-- name: counts
-- The number of passages with each term, counted up to $2.
SELECT term, (SELECT count(*) FROM (SELECT FROM passages WHERE terms @> ARRAY[term] LIMIT $2) AS counted) AS passages
FROM unnest($1::integer[]) AS term

-- name: sample
-- The first passages of each namespace, sorted by namespace.
SELECT space AS namespace, array_send(sample.terms) AS terms
FROM unnest($1::text[]) AS space CROSS JOIN LATERAL (SELECT terms FROM passages WHERE namespace = space LIMIT $2) AS sample
ORDER BY space

-- name: matches
-- Finds for each set of terms in $1 up to $9 passages that have all its terms, and keeps the $8 messages with the
-- greatest sums of weights ($2). Returns their passages and those of the messages right before and after, as an answer
-- often shares its words only with its question. $3 to $7 are filters: namespaces, conversations, speakers, times.
-- Terms are hashed with their namespace, so the index finds rows of these namespaces only, except for rare collisions.
WITH found AS (
    SELECT conversation_id, ordinal
    FROM unnest($1::text[], $2::double precision[]) AS requested (words, weight) CROSS JOIN LATERAL (
        SELECT conversation_id, ordinal, said_at
        FROM (
            SELECT * FROM passages WHERE terms @> string_to_array(words, ' ')::integer[]
            OFFSET 0 -- keeps the planner from using another index
        ) AS with_words
        WHERE namespace = ANY ($3::text[]) AND ($4::text[] IS NULL OR conversation_id = ANY ($4))
          AND ($5::text[] IS NULL OR speaker = ANY ($5))
          AND ($6::timestamptz IS NULL OR said_at >= $6) AND ($7::timestamptz IS NULL OR said_at < $7)
        LIMIT $9
    ) AS hit
    GROUP BY conversation_id, ordinal
    ORDER BY sum(weight) DESC, max(said_at) DESC, conversation_id, ordinal
    LIMIT $8
), places AS (
    SELECT DISTINCT conversation_id, ordinal + step AS ordinal FROM found, generate_series(-1, 1) AS step
), hidden AS MATERIALIZED (
    SELECT of_it.conversation_id, hidden_passages.ordinal
    FROM (SELECT DISTINCT conversation_id FROM found) AS of_it JOIN LATERAL (
        SELECT ordinal FROM hidden_passages WHERE hidden_passages.conversation_id = of_it.conversation_id
        OFFSET 0 -- keeps the planner from joining all rows first
    ) AS hidden_passages ON true
)
SELECT passage_id::text, namespace, conversation_id, message_id, ordinal, said_at, speaker, array_send(terms) AS terms
FROM places JOIN passages USING (conversation_id, ordinal)
WHERE (conversation_id, ordinal) NOT IN (SELECT conversation_id, ordinal FROM hidden)
  AND namespace = ANY ($3::text[]) AND ($4::text[] IS NULL OR conversation_id = ANY ($4)) AND ($5::text[] IS NULL OR speaker = ANY ($5))
  AND ($6::timestamptz IS NULL OR said_at >= $6) AND ($7::timestamptz IS NULL OR said_at < $7)

-- name: rows
WITH hidden AS MATERIALIZED (
    SELECT of_it.conversation_id, hidden_passages.ordinal
    FROM (SELECT DISTINCT conversation_id FROM passages WHERE passage_id = ANY ($1::uuid[])) AS of_it JOIN LATERAL (
        SELECT ordinal FROM hidden_passages WHERE hidden_passages.conversation_id = of_it.conversation_id
        OFFSET 0 -- keeps the planner from joining all rows first
    ) AS hidden_passages ON true
)
SELECT passage_id::text, namespace, conversation_id, message_id, ordinal, said_at, speaker, array_send(terms) AS terms
FROM passages
WHERE passage_id = ANY ($1::uuid[]) AND (conversation_id, ordinal) NOT IN (SELECT conversation_id, ordinal FROM hidden)
  AND namespace = ANY ($2::text[])
  AND ($3::text[] IS NULL OR conversation_id = ANY ($3)) AND ($4::text[] IS NULL OR speaker = ANY ($4))
  AND ($5::timestamptz IS NULL OR said_at >= $5) AND ($6::timestamptz IS NULL OR said_at < $6)

-- name: sizes
-- The number of passages of each namespace, counted up to $2.
SELECT space AS namespace, (SELECT count(*) FROM (SELECT FROM passages WHERE namespace = space LIMIT $2) AS counted) AS passages
FROM unnest($1::text[]) AS space

-- name: with_texts
-- Passages with the texts of their messages (if $2), the fields of each message's scope, and those of its conversation's window, if the
-- window is projected.
WITH hidden AS MATERIALIZED (
    SELECT of_it.conversation_id, hidden_passages.ordinal
    FROM (SELECT DISTINCT conversation_id FROM passages WHERE passage_id = ANY ($1::uuid[])) AS of_it JOIN LATERAL (
        SELECT ordinal FROM hidden_passages WHERE hidden_passages.conversation_id = of_it.conversation_id
        OFFSET 0 -- keeps the planner from joining all rows first
    ) AS hidden_passages ON true
)
SELECT p.passage_id::text, p.namespace, p.conversation_id, p.message_id, p.piece, p.ordinal, p.said_at, p.speaker, p.digest, p.clean_under,
       CASE WHEN $2 THEN m.body->>'name' END AS name, m.role, CASE WHEN $2 THEN m.content ELSE '' END AS content,
       m.partition, m.position, m.tenant_id, m.app_id, m.user_id, m.agent_id, m.mode,
       w.conversation_id IS NOT NULL AS in_window, w.tenant_id AS window_tenant_id, w.app_id AS window_app_id,
       w.user_id AS window_user_id, w.agent_id AS window_agent_id, w.mode AS window_mode,
       ARRAY(SELECT DISTINCT namespace FROM passages of_it
             WHERE of_it.conversation_id = p.conversation_id AND of_it.message_id = p.message_id) AS namespaces
FROM passages p JOIN messages m USING (conversation_id, message_id)
     LEFT JOIN windows w ON w.conversation_id = m.conversation_id AND w.partition = m.partition
WHERE p.passage_id = ANY ($1::uuid[]) AND (p.conversation_id, p.ordinal) NOT IN (SELECT conversation_id, ordinal FROM hidden)

-- name: of_messages
SELECT p.passage_id::text
FROM passages p JOIN unnest($1::text[], $2::text[]) AS requested (conversation_id, message_id) USING (conversation_id, message_id)
WHERE p.namespace = ANY ($3::text[])
ORDER BY p.said_at, p.passage_id
LIMIT $4

-- name: beside
-- The last passage of each message at these places.
SELECT DISTINCT ON (conversation_id, ordinal) passage_id::text
FROM unnest($1::text[], $2::integer[]) AS requested (conversation_id, ordinal) JOIN passages USING (conversation_id, ordinal)
WHERE namespace = ANY ($3::text[]) AND ($4::text[] IS NULL OR conversation_id = ANY ($4)) AND ($5::text[] IS NULL OR speaker = ANY ($5))
  AND ($6::timestamptz IS NULL OR said_at >= $6) AND ($7::timestamptz IS NULL OR said_at < $7)
ORDER BY conversation_id, ordinal, piece DESC, namespace

-- name: drop_namespace
-- Deletes the passages of namespace $1 from before a fence (time $2, end offsets $3). Their messages stay in the
-- archive if they also feed other namespaces.
DELETE FROM passages p USING messages m
WHERE p.namespace = $1 AND m.conversation_id = p.conversation_id AND m.message_id = p.message_id
  AND (least(m.said_at, m.archived_at) <= $2
       OR m.position < ($3::jsonb->>m.partition::text)::bigint AND m.said_at <= $2 + interval '1 day')

-- name: removals
SELECT passage_id::text, EXISTS (SELECT FROM passages p WHERE p.passage_id = r.passage_id) AS there
FROM passage_removals r ORDER BY removed_at LIMIT $1

-- name: removed
DELETE FROM passage_removals WHERE passage_id = ANY ($1::uuid[])

-- name: indexed_messages
-- Messages with passages, in the order of their keys, with the fields of their conversations' windows, if these are projected.
SELECT conversation_id, m.partition, m.position, m.content, m.body,
       w.conversation_id IS NOT NULL AS in_window, w.tenant_id AS window_tenant_id, w.app_id AS window_app_id,
       w.user_id AS window_user_id, w.agent_id AS window_agent_id, w.mode AS window_mode
FROM (SELECT DISTINCT conversation_id, message_id FROM passages
      WHERE (conversation_id, message_id) > ($1, $2) ORDER BY conversation_id, message_id LIMIT $3) AS indexed
     JOIN messages m USING (conversation_id, message_id)
     LEFT JOIN windows w USING (conversation_id, partition)
ORDER BY conversation_id, message_id

-- name: indexed
SELECT conversation_id, message_id, passage_id::text, namespace, digest, source_digest, version, clean_under
FROM passages JOIN unnest($1::text[], $2::text[]) AS requested (conversation_id, message_id) USING (conversation_id, message_id)

-- name: drop_message
DELETE FROM passages WHERE conversation_id = $1 AND message_id = $2

-- name: any
SELECT EXISTS (SELECT FROM passages)

-- name: of_other_version
SELECT EXISTS (SELECT FROM passages WHERE version IS DISTINCT FROM $1)

-- name: mark_current
UPDATE passages p SET version = given.version, source_digest = given.source_digest, clean_under = given.clean_under
FROM unnest($1::uuid[], $2::smallint[], $3::integer[], $4::integer[]) AS given (passage_id, version, source_digest, clean_under)
WHERE p.passage_id = given.passage_id

-- name: existing
SELECT passage_id::text FROM passages WHERE passage_id = ANY ($1::uuid[])

-- name: conversations
SELECT conversation_id FROM messages WHERE conversation_id > $1 GROUP BY conversation_id ORDER BY conversation_id LIMIT $2

-- name: backfill
SELECT conversation_id FROM passage_backfill WHERE policies = $1

-- name: advance_backfill
INSERT INTO passage_backfill (conversation_id, policies) VALUES ($1, $2)
ON CONFLICT (singleton) DO UPDATE SET conversation_id = excluded.conversation_id, policies = excluded.policies

-- name: end_backfill
DELETE FROM passage_backfill

-- name: count_conversations
SELECT count(DISTINCT conversation_id) AS conversations, count(DISTINCT conversation_id) FILTER (WHERE conversation_id > $1) AS ahead
FROM messages

-- name: said_with
-- Up to $7 messages of user $3 in namespace $1, said up to $5, that have any of the words $2: most different words
-- first, then latest. At most $6 rows are read per word. A message without a user belongs to the user of its window.
-- Without a user ($3 is null) only messages of conversation $4 count.
SELECT m.conversation_id, m.message_id, m.content, m.body->>'language' AS language
FROM (
    SELECT conversation_id, message_id, count(DISTINCT word) AS words, max(said_at) AS said_at
    FROM unnest($2::integer[]) AS word CROSS JOIN LATERAL (
        SELECT conversation_id, message_id, said_at
        FROM (
            SELECT * FROM passages WHERE terms @> ARRAY[word]
            OFFSET 0 -- keeps the planner from using another index
        ) AS with_word
        WHERE namespace = $1 AND said_at <= $5 AND speaker IN (coalesce($3, 'user'), 'user')
          AND ($3 IS NOT NULL OR conversation_id = $4)
        LIMIT $6
    ) AS hit
    GROUP BY conversation_id, message_id
) AS found
     JOIN messages m USING (conversation_id, message_id)
     LEFT JOIN windows w ON w.conversation_id = m.conversation_id AND w.partition = m.partition
WHERE m.role = 'user' AND coalesce(m.user_id, w.user_id) IS NOT DISTINCT FROM $3
ORDER BY words DESC, found.said_at DESC
LIMIT $7

-- name: contents
SELECT content FROM messages JOIN unnest($1::text[], $2::text[]) AS requested (conversation_id, message_id)
    USING (conversation_id, message_id)
WHERE role = 'user'
