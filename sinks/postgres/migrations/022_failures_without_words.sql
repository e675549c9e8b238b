-- What an erasure goes by: when parked requests were made, and nothing that failures quote of what was said.
-- depends: 021_findings

-- migrate: apply
-- Of those that are parked already it is not known: they are taken for older.
ALTER TABLE parked ADD COLUMN requested_at timestamptz NOT NULL DEFAULT '-infinity';
-- Details are in the dead letters, where an erasure finds them.
UPDATE extractions SET failed_reason = split_part(failed_reason, ': ', 1) WHERE failed_at IS NOT NULL AND failed_reason LIKE '%: %';

-- migrate: rollback
ALTER TABLE parked DROP COLUMN requested_at;
