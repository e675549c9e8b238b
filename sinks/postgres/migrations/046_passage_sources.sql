-- Passages have a digest of all that they are made of, names too. A backfill remembers the policies of its run.
-- depends: 045_questions_as_passages

-- migrate: apply
ALTER TABLE passages ADD COLUMN source_digest integer; -- NULL in passages of earlier versions
ALTER TABLE passage_backfill ADD COLUMN policies text NOT NULL DEFAULT '';

-- migrate: rollback
ALTER TABLE passage_backfill DROP COLUMN policies;
ALTER TABLE passages DROP COLUMN source_digest;
