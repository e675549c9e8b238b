-- name: project
-- Columns by name from the states' JSON, which leaves out defaults. Sorted by key: workers with overlapping states take
-- the rows in the same order and cannot deadlock. A row that is newer is locked all the same, so its prunings can follow.
INSERT INTO windows AS kept (conversation_id, tenant_id, app_id, user_id, agent_id, mode, partition, source, revision,
                             policy, phase, model, statistics, gaps, extracted_to, cleared_at, updated_at)
SELECT scope.*, w.partition, w.source, w.revision, w.policy, w.phase, w.model, w.statistics, coalesce(w.gaps, '[]'),
       coalesce(w.extracted_to, 0), to_timestamp(w.cleared_at), clock_timestamp()
FROM unnest($1::jsonb[]) AS given (state),
     jsonb_to_record(state->'scope') AS scope (conversation_id text, tenant_id text, app_id text, user_id text,
                                               agent_id text, mode text),
     jsonb_to_record(state) AS w (partition integer, source text, revision bigint, policy text, phase text, model text,
                                  statistics jsonb, gaps jsonb, extracted_to bigint, cleared_at double precision)
ORDER BY scope.conversation_id
ON CONFLICT (conversation_id) DO UPDATE SET
    tenant_id = excluded.tenant_id, app_id = excluded.app_id, user_id = excluded.user_id, agent_id = excluded.agent_id,
    mode = excluded.mode, partition = excluded.partition, source = excluded.source, revision = excluded.revision,
    policy = excluded.policy, phase = excluded.phase, model = excluded.model, statistics = excluded.statistics,
    gaps = excluded.gaps, extracted_to = excluded.extracted_to, cleared_at = excluded.cleared_at,
    updated_at = excluded.updated_at
WHERE kept.source <> excluded.source OR kept.revision <= excluded.revision

-- name: add_prunings
INSERT INTO window_prunings (conversation_id, at, number, cause, level, tokens_before, tokens_after, removed)
SELECT conversation_id, to_timestamp(at_s), number, cause, level, tokens_before, tokens_after, removed
FROM unnest($1::text[], $2::double precision[], $3::bigint[], $4::text[], $5::text[], $6::bigint[], $7::bigint[],
            $8::jsonb[])
  AS given (conversation_id, at_s, number, cause, level, tokens_before, tokens_after, removed)
ON CONFLICT DO NOTHING

-- name: forget
-- Locked in the order in which `project` locks them.
WITH older AS (
    SELECT conversation_id FROM windows
    WHERE conversation_id = ANY ($1::text[]) AND (source <> $2 OR revision <= $3)
    ORDER BY conversation_id
    FOR NO KEY UPDATE
)
UPDATE windows SET phase = 'forgotten', source = $2, revision = $3, updated_at = $4
FROM older WHERE windows.conversation_id = older.conversation_id

-- name: forget_older
-- Locked in the order in which `project` locks them.
WITH older AS (
    SELECT conversation_id FROM windows
    WHERE source = $1 AND partition = $2 AND revision < $3 AND phase <> 'forgotten'
    ORDER BY conversation_id
    FOR NO KEY UPDATE
)
UPDATE windows SET phase = 'forgotten', revision = $3, updated_at = $4
FROM older WHERE windows.conversation_id = older.conversation_id

-- name: of
-- One statement, so that the prunings are those of the same moment. Their fields stand as in schemas.windows.Pruning.
SELECT conversation_id, tenant_id, app_id, user_id, agent_id, mode, partition, source, revision, policy, phase, model,
       statistics, gaps, extracted_to, extract(epoch FROM cleared_at)::double precision AS cleared_at,
       ARRAY (SELECT jsonb_build_array(number, extract(epoch FROM at), cause, level, tokens_before, tokens_after, removed)
              FROM window_prunings p
              WHERE p.conversation_id = windows.conversation_id
              ORDER BY at DESC, number DESC
              LIMIT $2) AS prunings
FROM windows WHERE conversation_id = $1

-- name: prunings
SELECT jsonb_build_array(number, extract(epoch FROM at), cause, level, tokens_before, tokens_after, removed) AS pruning
FROM window_prunings
WHERE conversation_id = $1
ORDER BY at DESC, number DESC
LIMIT $2
