-- Erasing one of several people: what the others say in the same conversation stays.
-- depends: 027_speakers

-- migrate: apply
-- An answer without what goes to erased namespaces alone, or was said by an erased user. A proposal that does not say whose it is
-- counts as everybody's.
CREATE FUNCTION without_erased(answer jsonb, erased text[], users text[]) RETURNS jsonb
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT CASE WHEN count(*) = 0 THEN answer - 'proposals'
                ELSE answer || jsonb_build_object('proposals', jsonb_agg(proposal ORDER BY place)) END
    FROM jsonb_array_elements(coalesce(answer -> 'proposals', '[]')) WITH ORDINALITY AS each (proposal, place)
    WHERE NOT coalesce(proposal -> 'namespaces' <@ to_jsonb(erased), false)
      AND (users = '{}' OR coalesce(NOT proposal -> 'sayers' ?| users, false))
$$;

CREATE FUNCTION said_by_another(source jsonb, erasure text) RETURNS boolean
    LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT source ? 'user_id'
       AND EXISTS (SELECT FROM erasures WHERE erasure_id = erasure AND kind = 'user' AND user_id <> source ->> 'user_id')
$$;

-- migrate: rollback
DROP FUNCTION said_by_another;
DROP FUNCTION without_erased;
