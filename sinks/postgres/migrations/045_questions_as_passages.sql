-- Ranking no longer treats passages of questions only differently. Workers of the previous release still read and write the column.
-- depends: 044_undone_prunings

-- migrate: apply
ALTER TABLE passages ALTER COLUMN asks SET DEFAULT false;

-- migrate: rollback
ALTER TABLE passages ALTER COLUMN asks DROP DEFAULT;
