-- name: by_ids
SELECT * FROM memories WHERE memory_id = ANY ($1::text[])

-- name: rows_unless
-- Rows that changed since they were read. `xmin` is the transaction that wrote the current row: it differs after every
-- change. An erased row is missing; the columns of an unchanged row are null.
SELECT m.memory_id AS requested, m.xmin::text::bigint AS written_by, changed.*
FROM unnest($1::text[], $2::bigint[]) AS known (memory_id, written_by)
JOIN memories m USING (memory_id)
LEFT JOIN memories changed ON changed.memory_id = m.memory_id AND m.xmin::text::bigint <> known.written_by

-- name: live_by_text
-- Live memories with these normalised texts. The index has hashes, as texts may be longer than an index entry; the
-- comparison of the texts settles collisions.
SELECT * FROM memories
WHERE namespace = $1 AND status = 'active'
  AND md5(normalised) = ANY (SELECT md5(wanted) FROM unnest($2::text[]) AS wanted)
  AND normalised = ANY ($2::text[])
ORDER BY created_at, memory_id

-- name: in_namespace
SELECT * FROM memories
WHERE namespace = $1 AND status = ANY ($2::text[])
ORDER BY importance DESC, memory_id
LIMIT $3 OFFSET $4

-- name: listed_by_importance
-- One of three similar statements: with the order as a parameter, the planner would use no index.
SELECT * FROM memories
WHERE namespace = $1 AND status = ANY ($2::text[])
  AND ($3::text[] = '{}' OR kind = ANY ($3::text[]) OR kinds && $3::text[])
  AND ($4::text[] = '{}' OR tags && $4::text[])
  AND importance BETWEEN $5 AND $6
  AND ($7::timestamptz IS NULL OR created_at >= $7) AND ($8::timestamptz IS NULL OR created_at < $8)
  AND ($9::double precision IS NULL OR importance < $9 OR (importance = $9 AND memory_id > $10::text))
ORDER BY importance DESC, memory_id LIMIT $11

-- name: listed_by_created_at
SELECT * FROM memories
WHERE namespace = $1 AND status = ANY ($2::text[])
  AND ($3::text[] = '{}' OR kind = ANY ($3::text[]) OR kinds && $3::text[])
  AND ($4::text[] = '{}' OR tags && $4::text[])
  AND importance BETWEEN $5 AND $6
  AND ($7::timestamptz IS NULL OR created_at >= $7) AND ($8::timestamptz IS NULL OR created_at < $8)
  AND ($9::timestamptz IS NULL OR created_at < $9 OR (created_at = $9 AND memory_id > $10::text))
ORDER BY created_at DESC, memory_id LIMIT $11

-- name: listed_by_updated_at
SELECT * FROM memories
WHERE namespace = $1 AND status = ANY ($2::text[])
  AND ($3::text[] = '{}' OR kind = ANY ($3::text[]) OR kinds && $3::text[])
  AND ($4::text[] = '{}' OR tags && $4::text[])
  AND importance BETWEEN $5 AND $6
  AND ($7::timestamptz IS NULL OR created_at >= $7) AND ($8::timestamptz IS NULL OR created_at < $8)
  AND ($9::timestamptz IS NULL OR updated_at < $9 OR (updated_at = $9 AND memory_id > $10::text))
ORDER BY updated_at DESC, memory_id LIMIT $11

-- name: in_other_languages
-- Live memories of a namespace that are in another language, the latest first.
SELECT * FROM memories
WHERE namespace = $1 AND status = 'active' AND language IS NOT NULL AND lower(split_part(language, '-', 1)) <> $2
ORDER BY updated_at DESC, memory_id
LIMIT $3

-- name: expendable
-- Live memories that are not pinned, in the order of the index memories_to_compact.
SELECT * FROM memories
WHERE namespace = $1 AND status = 'active' AND NOT pinned
ORDER BY importance, created_at, memory_id
LIMIT $2

-- name: expiring
-- Namespaces with expired live memories, longest overdue first.
SELECT namespace FROM memories
WHERE status = 'active' AND least(expires_at, valid_until) <= $1
GROUP BY namespace ORDER BY min(least(expires_at, valid_until)) LIMIT $2

-- name: expired
SELECT * FROM memories
WHERE namespace = $1 AND status = 'active' AND least(expires_at, valid_until) <= $2
ORDER BY least(expires_at, valid_until), memory_id LIMIT $3

-- name: from_conversation
SELECT count(*) FROM memories
WHERE namespace = $1 AND status = 'active'
  AND sources @> jsonb_build_array(jsonb_build_object('conversation_id', $2::text))

-- name: of_conversation
-- Live memories of these namespaces with a source in a conversation, the latest first.
SELECT * FROM memories
WHERE namespace = ANY ($1::text[]) AND status = 'active'
  AND sources @> jsonb_build_array(jsonb_build_object('conversation_id', $2::text))
ORDER BY created_at DESC, memory_id LIMIT $3

-- name: before
-- Memories that these memories replaced, directly or indirectly, nearest first.
WITH RECURSIVE earlier AS (
    SELECT * FROM memories WHERE namespace = $1 AND superseded_by = ANY ($2::text[]) AND status <> 'active'
    UNION
    SELECT m.* FROM memories m JOIN earlier ON m.superseded_by = earlier.memory_id
    WHERE m.namespace = $1 AND m.status <> 'active'
)
SELECT * FROM earlier LIMIT $3

-- name: absorbed_by
-- Memories that compaction merged into memory $2, directly or indirectly. Reads the namespace once, as no index has
-- `superseded_by`.
WITH RECURSIVE ended AS MATERIALIZED (
    SELECT memory_id, version, superseded_by FROM memories
    WHERE namespace = $1 AND status = 'deleted' AND superseded_by IS NOT NULL
), absorbed AS (
    SELECT $2::text AS memory_id
    UNION
    SELECT ended.memory_id
    FROM ended JOIN absorbed ON ended.superseded_by = absorbed.memory_id
         JOIN memory_versions last ON last.memory_id = ended.memory_id AND last.version = ended.version
    WHERE last.change = 'compacted'
)
SELECT memories.* FROM memories JOIN absorbed USING (memory_id) WHERE memory_id <> $2::text

-- name: erased_from
SELECT namespace FROM erased_memories WHERE memory_id = $1

-- name: from_messages
-- Live memories of these namespaces that have one of these messages as a source: the first $4 by id for each message.
SELECT requested.conversation_id, requested.message_id, found.memory_id
FROM unnest($1::text[], $2::text[]) AS requested (conversation_id, message_id)
CROSS JOIN LATERAL (
    SELECT memory_id FROM memories
    WHERE sources @> jsonb_build_array(
              jsonb_build_object('conversation_id', requested.conversation_id, 'message_id', requested.message_id))
      AND namespace = ANY ($3::text[]) AND status = 'active'
    ORDER BY memory_id LIMIT $4
) AS found

-- name: linking
-- Memories with links to any of these, at most $3; all of them if $3 is null.
SELECT DISTINCT ON (memories.memory_id) memories.*
FROM unnest($2::text[]) AS target
JOIN memories ON links @> jsonb_build_array(jsonb_build_object('memory_id', target))
WHERE namespace = $1 AND status <> 'deleted' AND links <> '[]'
ORDER BY memories.memory_id LIMIT $3

-- name: any_embedded_otherwise
SELECT EXISTS (SELECT FROM memories LEFT JOIN embeddings USING (memory_id)
               WHERE status <> 'deleted' AND model IS DISTINCT FROM $1)

-- name: any
SELECT EXISTS (SELECT FROM memories WHERE status <> 'deleted')

-- name: count_live
SELECT count(*) FROM memories WHERE namespace = $1 AND status = 'active'

-- name: versions
SELECT memory_id, version, namespace, change, before, after, cause, at
FROM memory_versions WHERE memory_id = $1 ORDER BY version

-- name: version
-- The given version, or the latest.
SELECT memory_id, version, namespace, change, before, after, cause, at
FROM memory_versions WHERE memory_id = $1 AND ($2::integer IS NULL OR version = $2) ORDER BY version DESC LIMIT 1

-- name: versions_after
SELECT memory_id, version, namespace, change, before, after, cause, at
FROM memory_versions WHERE memory_id = $1 AND version > $2 ORDER BY version LIMIT $3

-- name: contents_before_deletion
-- The contents of memories before their deletion, which their rows do not have.
SELECT DISTINCT ON (memory_id) before
FROM memory_versions
WHERE memory_id = ANY ($1::text[]) AND after->>'status' = 'deleted' AND before->>'status' <> 'deleted'
ORDER BY memory_id, version DESC

-- name: store
-- Stores memories; the columns come by name from their JSON.
INSERT INTO memories SELECT stored.* FROM unnest($1::jsonb[]) AS given, jsonb_populate_record(NULL::memories, given) AS stored
ON CONFLICT (memory_id) DO UPDATE SET
    kind = excluded.kind, kinds = excluded.kinds, tags = excluded.tags, text = excluded.text,
    normalised = excluded.normalised, context = excluded.context, full_text = excluded.full_text,
    language = excluded.language, importance = excluded.importance, confidence = excluded.confidence,
    version = excluded.version, sequence = excluded.sequence, status = excluded.status,
    updated_at = excluded.updated_at, event_time = excluded.event_time, valid_from = excluded.valid_from,
    valid_until = excluded.valid_until, superseded_by = excluded.superseded_by, supersedes = excluded.supersedes,
    reinforcement_count = excluded.reinforcement_count, last_reinforced_at = excluded.last_reinforced_at,
    sources = excluded.sources, links = excluded.links, pinned = excluded.pinned, expires_at = excluded.expires_at,
    told_by = excluded.told_by

-- name: store_versions
INSERT INTO memory_versions (memory_id, version, namespace, change, before, after, cause, at)
SELECT * FROM unnest($1::text[], $2::integer[], $3::text[], $4::text[], $5::jsonb[], $6::jsonb[], $7::jsonb[], $8::timestamptz[])

-- name: store_embeddings
INSERT INTO embeddings (memory_id, model, vector) SELECT * FROM unnest($1::text[], $2::text[], $3::bytea[])
ON CONFLICT (memory_id) DO UPDATE SET model = excluded.model, vector = excluded.vector

-- name: drop_embeddings
DELETE FROM embeddings WHERE memory_id = ANY ($1::text[])

-- name: with_vectors
-- The points that the index should have for these memories.
SELECT memories.*, embeddings.vector
FROM memories JOIN embeddings USING (memory_id)
WHERE memory_id = ANY ($1::text[]) AND status <> 'deleted' AND embeddings.model = $2

-- name: vectors
SELECT memory_id, vector FROM embeddings WHERE memory_id = ANY ($1::text[]) AND model = $2

-- name: keys_after
SELECT namespace, memory_id
FROM memories
WHERE (namespace, memory_id) > ($1, $2)
ORDER BY namespace, memory_id
LIMIT $3

-- name: embedded_otherwise
-- Memories whose vectors are missing or were made by another model.
SELECT memory_id, text
FROM memories LEFT JOIN embeddings USING (memory_id)
WHERE memory_id = ANY ($1::text[]) AND status <> 'deleted' AND model IS DISTINCT FROM $2

-- name: lock_namespace
SELECT pg_advisory_xact_lock(hashtextextended($1, 1))

-- name: try_lock_namespace
SELECT pg_try_advisory_xact_lock(hashtextextended($1, 1))

-- name: sequence
INSERT INTO namespaces (namespace) VALUES ($1)
ON CONFLICT (namespace) DO UPDATE SET namespace = excluded.namespace
RETURNING sequence

-- name: advance
UPDATE namespaces SET sequence = $2 WHERE namespace = $1
