-- name: project
-- Columns by name from the states' JSON, which leaves out defaults. Sorted by key: workers with overlapping states take
-- the rows in the same order and cannot deadlock. A row that is newer is locked all the same, so its prunings can follow.
INSERT INTO windows AS kept (conversation_id, tenant_id, app_id, user_id, agent_id, mode, partition, source, revision,
                             policy, phase, model, statistics, gaps, opened, extracted_to, cleared_at, adjustments, updated_at)
SELECT scope.*, w.partition, w.source, w.revision, w.policy, w.phase, w.model, w.statistics, coalesce(w.gaps, '[]'),
       coalesce(w.opened, 0), coalesce(w.extracted_to, 0), to_timestamp(w.cleared_at), coalesce(w.adjustments, '{}'),
       clock_timestamp()
FROM unnest($1::jsonb[]) AS given (state),
     jsonb_to_record(state->'scope') AS scope (conversation_id text, tenant_id text, app_id text, user_id text,
                                               agent_id text, mode text),
     jsonb_to_record(state) AS w (partition integer, source text, revision bigint, policy text, phase text, model text,
                                  statistics jsonb, gaps jsonb, opened bigint, extracted_to bigint,
                                  cleared_at double precision, adjustments jsonb)
ORDER BY scope.conversation_id, w.partition
ON CONFLICT (conversation_id, partition) DO UPDATE SET
    tenant_id = excluded.tenant_id, app_id = excluded.app_id, user_id = excluded.user_id, agent_id = excluded.agent_id,
    mode = excluded.mode, source = excluded.source, revision = excluded.revision, policy = excluded.policy,
    phase = excluded.phase, model = excluded.model, statistics = excluded.statistics, gaps = excluded.gaps,
    opened = excluded.opened, extracted_to = excluded.extracted_to, cleared_at = excluded.cleared_at, adjustments = excluded.adjustments,
    updated_at = excluded.updated_at
WHERE kept.source <> excluded.source OR kept.revision <= excluded.revision

-- name: add_prunings
INSERT INTO window_prunings (conversation_id, partition, at, number, cause, level, tokens_before, tokens_after, removed)
SELECT conversation_id, partition, to_timestamp(at_s), number, cause, level, tokens_before, tokens_after, removed
FROM unnest($1::text[], $2::integer[], $3::double precision[], $4::bigint[], $5::text[], $6::text[], $7::bigint[],
            $8::bigint[], $9::jsonb[])
  AS given (conversation_id, partition, at_s, number, cause, level, tokens_before, tokens_after, removed)
ON CONFLICT DO NOTHING

-- name: forget
-- Locked in the order in which `project` locks them.
WITH older AS (
    SELECT conversation_id, partition FROM windows
    WHERE conversation_id = ANY ($1::text[]) AND partition = $2 AND (source <> $3 OR revision <= $4)
    ORDER BY conversation_id
    FOR NO KEY UPDATE
)
UPDATE windows SET phase = 'forgotten', source = $3, revision = $4, updated_at = $5
FROM older WHERE windows.conversation_id = older.conversation_id AND windows.partition = older.partition

-- name: forget_older
-- Locked in the order in which `project` locks them.
WITH older AS (
    SELECT conversation_id, partition FROM windows
    WHERE partition = $2 AND (source <> $1 OR revision < $3) AND phase <> 'forgotten'
    ORDER BY conversation_id
    FOR NO KEY UPDATE
)
UPDATE windows SET phase = 'forgotten', source = $1, revision = $3, updated_at = $4
FROM older WHERE windows.conversation_id = older.conversation_id AND windows.partition = older.partition

-- name: of
-- One statement, so that the prunings are those of the same window and moment. Their fields stand as in
-- schemas.windows.Pruning. An event that went astray makes a window without messages beside the real one.
SELECT conversation_id, tenant_id, app_id, user_id, agent_id, mode, partition, source, revision, policy, phase, model,
       statistics, gaps, opened, extracted_to, extract(epoch FROM cleared_at)::double precision AS cleared_at, adjustments,
       ARRAY (SELECT jsonb_build_array(number, extract(epoch FROM at), cause, level, tokens_before, tokens_after, removed)
              FROM window_prunings p
              WHERE p.conversation_id = windows.conversation_id AND p.partition = windows.partition
                AND ($3::double precision IS NULL OR (at, number) < (to_timestamp($3), $4::bigint))
              ORDER BY at DESC, number DESC
              LIMIT $2) AS prunings
FROM windows
WHERE conversation_id = $1
ORDER BY (statistics->'total_messages')::bigint > 0 DESC, phase <> 'forgotten' DESC, updated_at DESC, partition DESC
LIMIT 1

-- name: scopes
SELECT conversation_id, tenant_id, app_id, user_id, agent_id, mode FROM windows
WHERE phase <> 'forgotten' ORDER BY updated_at DESC LIMIT $1
