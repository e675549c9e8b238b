-- name: counts
SELECT
    (SELECT count(*) FROM outbox) AS outbox,
    (SELECT coalesce(extract(epoch FROM clock_timestamp() - min(created_at)), 0)::double precision FROM outbox) AS outbox_age_s,
    (SELECT count(*) FROM memories WHERE status = 'active' AND namespace NOT LIKE '~%') AS memories,
    (SELECT count(*) FROM namespaces WHERE namespace NOT LIKE '~%') AS namespaces,
    (SELECT count(DISTINCT namespace) FROM memories
     WHERE status = 'active' AND namespace NOT LIKE '~%') AS namespaces_with_memories,
    (SELECT coalesce(jsonb_object_agg(phase, n), '{}')
     FROM (SELECT phase, count(*) AS n FROM windows GROUP BY phase) AS by_phase) AS windows,
    (SELECT count(*) FROM (SELECT FROM windows WHERE phase <> 'forgotten'
                           GROUP BY conversation_id HAVING count(*) > 1) AS split) AS split_conversations,
    (SELECT coalesce(jsonb_object_agg(lane, n), '{}')
     FROM (SELECT lane, count(*) AS n FROM parked GROUP BY lane) AS by_lane) AS parked,
    (SELECT coalesce(jsonb_object_agg(status, n), '{}')
     FROM (SELECT status, count(*) AS n FROM consolidation_runs
           WHERE NOT dry_run AND created_at > clock_timestamp() - interval '1 day' GROUP BY status) AS by_status) AS runs,
    (SELECT greatest(0, coalesce(extract(epoch FROM clock_timestamp() - min(next_due)), 0))::double precision
     FROM consolidation_schedules) AS overdue_s,
    (SELECT n_live_tup FROM pg_stat_user_tables WHERE relid = 'passages'::regclass) AS passages,
    pg_total_relation_size('passages') AS passage_bytes,
    (SELECT coalesce(extract(epoch FROM clock_timestamp() - min(removed_at)), 0)::double precision
     FROM passage_removals) AS passage_removals_age_s
