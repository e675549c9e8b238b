-- name: conversations
-- The conversations in which user $1 wrote or which have a window of the user. $2 and $3 restrict them to a tenant and
-- an app.
SELECT conversation_id FROM messages
WHERE user_id = $1 AND ($2::text IS NULL OR tenant_id = $2) AND ($3::text IS NULL OR app_id = $3)
UNION
SELECT conversation_id FROM windows
WHERE user_id = $1 AND ($2::text IS NULL OR tenant_id = $2) AND ($3::text IS NULL OR app_id = $3)
ORDER BY conversation_id

-- name: scopes
SELECT conversation_id, tenant_id, app_id, user_id, agent_id, mode FROM messages WHERE conversation_id = ANY ($1::text[])
UNION
SELECT conversation_id, tenant_id, app_id, user_id, agent_id, mode FROM windows WHERE conversation_id = ANY ($1::text[])

-- name: fed
-- The namespaces that these conversations fed. They come from the extraction requests, as policies may have changed
-- since.
SELECT DISTINCT part.namespace
FROM extractions JOIN extraction_parts part USING (request_id) WHERE conversation_id = ANY ($1::text[])

-- name: named
-- Up to $3 namespaces behind $2 with $1 in their names. Some have no messages, because only commands fed them.
SELECT namespace FROM namespaces WHERE position($1 IN namespace) > 0 AND namespace > $2 ORDER BY namespace LIMIT $3

-- name: all_named
-- Namespaces with $1 in their names that have versions of memories. An emptied namespace has none, but keeps its row
-- for its sequence.
SELECT namespace FROM namespaces WHERE position($1 IN namespace) > 0
  AND EXISTS (SELECT FROM memory_versions v WHERE v.namespace = namespaces.namespace)

-- name: held_in
-- An answer counts if it has proposals for the namespace; one of an earlier version does not say for which they are.
SELECT requested.namespace,
       (SELECT count(*) FROM memories m WHERE m.namespace = requested.namespace) AS memories,
       (SELECT count(*) FROM memory_versions v WHERE v.namespace = requested.namespace) AS versions,
       (SELECT count(*) FROM embeddings JOIN memories m USING (memory_id) WHERE m.namespace = requested.namespace) AS vectors,
       (SELECT count(*) FROM extractions
        WHERE namespaces @> ARRAY[requested.namespace]
          AND EXISTS (SELECT FROM jsonb_array_elements(answer->'proposals') AS proposal
                      WHERE coalesce(proposal->'namespaces' ? requested.namespace, true))) AS answers,
       (SELECT count(*) FROM parked WHERE namespaces @> ARRAY[requested.namespace]) AS parked_requests
FROM unnest($1::text[]) AS requested (namespace)

-- name: said
-- An erased window keeps its row, without messages.
SELECT (SELECT count(*) FROM messages
        WHERE user_id = $1 AND ($2::text IS NULL OR tenant_id = $2) AND ($3::text IS NULL OR app_id = $3)) AS messages,
       (SELECT count(*) FROM windows
        WHERE user_id = $1 AND ($2::text IS NULL OR tenant_id = $2) AND ($3::text IS NULL OR app_id = $3)
          AND phase <> 'forgotten' AND (statistics->'total_messages')::bigint > 0) AS windows,
       (SELECT count(*) FROM user_settings
        WHERE user_id = $1 AND ($2::text IS NULL OR tenant_id = $2) AND ($3::text IS NULL OR app_id = $3)) AS settings

-- name: from_conversations
SELECT count(*) FROM memories
WHERE namespace = $1 AND status <> 'deleted'
  AND EXISTS (SELECT FROM jsonb_array_elements(sources) AS source
              WHERE source->>'conversation_id' = ANY ($2::text[]))
