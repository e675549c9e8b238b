-- The changes of a namespace in the order in which they were told: who follows its events resumes from here.
-- depends: 010_purges

-- migrate: apply
CREATE INDEX memory_versions_in_order ON memory_versions (namespace, ((after->>'sequence')::bigint));

-- migrate: rollback
DROP INDEX memory_versions_in_order;
