-- Memories that no limit takes.
-- depends: 007_energy

-- migrate: apply
ALTER TABLE memories ADD COLUMN pinned boolean NOT NULL DEFAULT false;

-- migrate: rollback
ALTER TABLE memories DROP COLUMN pinned;
