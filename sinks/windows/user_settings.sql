-- name: choose
-- Stores settings chosen at $5, unless later ones are stored: a repeated or late event changes nothing. A time ahead of
-- the database's clock is cut to it, so that it does not outlast a later choice. Settings chosen before an erasure of
-- the user are not stored.
INSERT INTO user_settings AS kept (user_id, tenant_id, app_id, settings, at)
SELECT $1::text, coalesce($2::text, ''), coalesce($3::text, ''), $4::jsonb, least($5::timestamptz, clock_timestamp())
WHERE NOT EXISTS (SELECT FROM erasures e
                  WHERE e.kind = 'user' AND e.user_id = $1 AND e.at >= $5
                    AND (e.tenant_id IS NULL OR e.tenant_id = $2) AND (e.app_id IS NULL OR e.app_id = $3))
ON CONFLICT (user_id, tenant_id, app_id) DO UPDATE SET settings = excluded.settings, at = excluded.at
WHERE kept.at <= excluded.at

-- name: chosen_by
-- The settings of each user, with the user's place in the lists. Settings for an app precede settings for a tenant, and
-- these precede settings for all. Settings that an erasure has yet to delete are left out.
SELECT requested.place, chosen.settings
FROM unnest($1::text[], $2::text[], $3::text[]) WITH ORDINALITY AS requested (user_id, tenant_id, app_id, place),
     LATERAL (SELECT settings FROM user_settings u
              WHERE u.user_id = requested.user_id AND u.tenant_id IN ('', requested.tenant_id) AND u.app_id IN ('', requested.app_id)
                AND u.settings <> '{}' AND NOT EXISTS (
                    SELECT FROM erasures e
                    WHERE e.kind = 'user' AND e.user_id = u.user_id AND e.at >= u.at
                      AND (e.tenant_id IS NULL OR e.tenant_id = u.tenant_id) AND (e.app_id IS NULL OR e.app_id = u.app_id))
              ORDER BY u.app_id <> '' DESC, u.tenant_id <> '' DESC
              LIMIT 1) AS chosen

-- name: chosen_for
SELECT settings FROM user_settings WHERE user_id = $1 AND tenant_id = coalesce($2, '') AND app_id = coalesce($3, '')
