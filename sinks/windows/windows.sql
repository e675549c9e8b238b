-- name: project
-- Stores the states $1; columns come by name from their JSON, which leaves out defaults. Rows are sorted by key:
-- workers with overlapping states take them in the same order and cannot deadlock. A row with a newer state stays, but
-- is locked too, so that its prunings can follow. Returns the conversations that have another window, in another partition.
WITH stored AS (
    INSERT INTO windows AS kept (conversation_id, tenant_id, app_id, user_id, agent_id, mode, partition, source, revision,
                                 policy, phase, model, statistics, gaps, opened, extracted_to, cleared_at, adjustments,
                                 last_message_at, restorable, updated_at)
    SELECT scope.*, w.partition, w.source, w.revision, w.policy, w.phase, w.model, w.statistics, coalesce(w.gaps, '[]'),
           coalesce(w.opened, 0), coalesce(w.extracted_to, 0), to_timestamp(w.cleared_at), coalesce(w.adjustments, '{}'),
           to_timestamp(w.last_message_at), w.restorable, clock_timestamp()
    FROM unnest($1::jsonb[]) AS given (state),
         jsonb_to_record(state->'scope') AS scope (conversation_id text, tenant_id text, app_id text, user_id text,
                                                   agent_id text, mode text),
         jsonb_to_record(state) AS w (partition integer, source text, revision bigint, policy text, phase text, model text,
                                      statistics jsonb, gaps jsonb, opened bigint, extracted_to bigint,
                                      cleared_at double precision, adjustments jsonb, last_message_at double precision, restorable jsonb)
    ORDER BY scope.conversation_id, w.partition
    ON CONFLICT (conversation_id, partition) DO UPDATE SET
        tenant_id = excluded.tenant_id, app_id = excluded.app_id, user_id = excluded.user_id, agent_id = excluded.agent_id,
        mode = excluded.mode, source = excluded.source, revision = excluded.revision, policy = excluded.policy,
        phase = excluded.phase, model = excluded.model, statistics = excluded.statistics, gaps = excluded.gaps,
        opened = excluded.opened, extracted_to = excluded.extracted_to, cleared_at = excluded.cleared_at, adjustments = excluded.adjustments,
        last_message_at = excluded.last_message_at, restorable = excluded.restorable, updated_at = excluded.updated_at
    WHERE kept.source <> excluded.source OR kept.revision <= excluded.revision
    RETURNING kept.conversation_id, kept.partition
)
SELECT conversation_id FROM stored
WHERE EXISTS (SELECT FROM windows other
              WHERE other.conversation_id = stored.conversation_id AND other.partition <> stored.partition
                AND other.phase <> 'forgotten')

-- name: add_prunings
-- If several states have the same pruning, the one in which it was undone is stored, as a statement can write a row
-- only once.
INSERT INTO window_prunings AS kept
       (conversation_id, partition, at, number, cause, level, tokens_before, tokens_after, removed, undone_at)
SELECT DISTINCT ON (conversation_id, partition, at_s, number)
       conversation_id, partition, to_timestamp(at_s), number, cause, level, tokens_before, tokens_after, removed,
       to_timestamp(undone_at_s)
FROM unnest($1::text[], $2::integer[], $3::double precision[], $4::bigint[], $5::text[], $6::text[], $7::bigint[],
            $8::bigint[], $9::jsonb[], $10::double precision[])
  AS given (conversation_id, partition, at_s, number, cause, level, tokens_before, tokens_after, removed, undone_at_s)
ORDER BY conversation_id, partition, at_s, number, undone_at_s NULLS LAST
ON CONFLICT (conversation_id, partition, at, number) DO UPDATE SET undone_at = excluded.undone_at
WHERE kept.undone_at IS NULL AND excluded.undone_at IS NOT NULL

-- name: forget
-- Marks these windows as forgotten, except newer rows. Rows are locked in the order in which `project` locks them.
WITH older AS (
    SELECT conversation_id, partition FROM windows
    WHERE conversation_id = ANY ($1::text[]) AND partition = $2 AND (source <> $3 OR revision <= $4)
    ORDER BY conversation_id
    FOR NO KEY UPDATE
)
UPDATE windows SET phase = 'forgotten', source = $3, revision = $4, updated_at = $5
FROM older WHERE windows.conversation_id = older.conversation_id AND windows.partition = older.partition

-- name: forget_older
-- Marks all windows of a partition with older rows as forgotten. Rows are locked in the order in which `project` locks
-- them.
WITH older AS (
    SELECT conversation_id, partition FROM windows
    WHERE partition = $2 AND (source <> $1 OR revision < $3) AND phase <> 'forgotten'
    ORDER BY conversation_id
    FOR NO KEY UPDATE
)
UPDATE windows SET phase = 'forgotten', source = $1, revision = $3, updated_at = $4
FROM older WHERE windows.conversation_id = older.conversation_id AND windows.partition = older.partition

-- name: of
-- The window of conversation $1, with its latest $2 prunings before time $3 and number $4. One statement, so that both
-- are of the same moment. A pruning's fields are in the order of schemas.conversations.windows.Pruning. A misrouted
-- event makes a second window without messages: a window with messages comes first, then one that is not forgotten,
-- then the latest.
SELECT conversation_id, tenant_id, app_id, user_id, agent_id, mode, partition, source, revision, policy, phase, model,
       statistics, gaps, opened, extracted_to, extract(epoch FROM cleared_at)::double precision AS cleared_at, adjustments,
       extract(epoch FROM last_message_at)::double precision AS last_message_at, restorable,
       ARRAY (SELECT jsonb_build_array(number, extract(epoch FROM at), cause, level, tokens_before, tokens_after, removed,
                                       extract(epoch FROM undone_at))
              FROM window_prunings p
              WHERE p.conversation_id = windows.conversation_id AND p.partition = windows.partition
                AND ($3::double precision IS NULL OR (at, number) < (to_timestamp($3), $4::bigint))
              ORDER BY at DESC, number DESC
              LIMIT $2) AS prunings
FROM windows
WHERE conversation_id = $1
ORDER BY (statistics->'total_messages')::bigint > 0 DESC, phase <> 'forgotten' DESC, updated_at DESC, partition DESC
LIMIT 1

-- name: places_of
SELECT conversation_id, partition FROM windows
WHERE user_id = $1 AND ($2::text IS NULL OR tenant_id = $2) AND ($3::text IS NULL OR app_id = $3) AND phase <> 'forgotten'
ORDER BY updated_at DESC LIMIT $4

-- name: scopes
SELECT conversation_id, tenant_id, app_id, user_id, agent_id, mode FROM windows
WHERE phase <> 'forgotten' ORDER BY updated_at DESC LIMIT $1

-- name: latest
-- One window per conversation (chosen as in `of`), the latest message first: the $3 windows after the place given by
-- time $1 and conversation $2. There are no other filters, so that PostgreSQL can read in the order of the index.
SELECT w.conversation_id, tenant_id, app_id, user_id, agent_id, mode, phase, statistics,
       extract(epoch FROM active_at)::double precision AS active_at
FROM windows w
WHERE ($1::double precision IS NULL
       OR active_slot <= date_bin('10 minutes', to_timestamp($1), timestamptz '2000-01-01 00:00Z')
          AND (active_at, w.conversation_id) < (to_timestamp($1), $2::text))
  AND NOT EXISTS (
    SELECT FROM windows o
    WHERE o.conversation_id = w.conversation_id AND o.partition <> w.partition
      AND ((o.statistics->'total_messages')::bigint > 0, o.phase <> 'forgotten', o.updated_at, o.partition)
          > ((w.statistics->'total_messages')::bigint > 0, w.phase <> 'forgotten', w.updated_at, w.partition))
ORDER BY active_slot DESC, active_at DESC, w.conversation_id DESC
LIMIT $3

-- name: latest_among
-- As `latest`, for conversations in which one of the users $4 wrote or which have a window of one of them, and for the
-- conversations $5.
WITH among AS (
    SELECT conversation_id FROM windows WHERE user_id = ANY ($4::text[])
    UNION
    SELECT conversation_id FROM messages WHERE user_id = ANY ($4::text[])
    UNION
    SELECT unnest($5::text[])
)
SELECT w.conversation_id, tenant_id, app_id, user_id, agent_id, mode, phase, statistics,
       extract(epoch FROM active_at)::double precision AS active_at
FROM among JOIN windows w USING (conversation_id)
WHERE ($1::double precision IS NULL OR (active_at, w.conversation_id) < (to_timestamp($1), $2::text))
  AND NOT EXISTS (
    SELECT FROM windows o
    WHERE o.conversation_id = w.conversation_id AND o.partition <> w.partition
      AND ((o.statistics->'total_messages')::bigint > 0, o.phase <> 'forgotten', o.updated_at, o.partition)
          > ((w.statistics->'total_messages')::bigint > 0, w.phase <> 'forgotten', w.updated_at, w.partition))
ORDER BY active_at DESC, w.conversation_id DESC
LIMIT $3

-- name: split
-- How many conversations have active windows in several partitions, and the first of them by its id. PostgreSQL reads
-- the index `windows_kept` alone.
SELECT conversation_id, array_agg(partition ORDER BY partition) AS partitions, count(*) OVER () AS conversations
FROM windows
WHERE phase <> 'forgotten'
GROUP BY conversation_id
HAVING count(*) > 1
ORDER BY conversation_id
LIMIT 1
