-- Who told a memory: users. Null in rows that an earlier version wrote.
-- depends: 033_forgotten

-- migrate: apply
ALTER TABLE memories ADD COLUMN told_by text[];

-- migrate: rollback
ALTER TABLE memories DROP COLUMN told_by;
