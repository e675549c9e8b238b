-- What a memory says is read where it rests, and nowhere else: who erases it erases it there.
-- depends: 020_erasures

-- migrate: apply
ALTER TABLE consolidation_findings DROP COLUMN known;

-- migrate: rollback
ALTER TABLE consolidation_findings ADD COLUMN known text;
