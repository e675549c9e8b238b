-- Where a window's first message is: what was said before belongs to a window that was forgotten.
-- depends: 010_purges

-- migrate: apply
ALTER TABLE windows ADD COLUMN opened bigint NOT NULL DEFAULT 0;

-- migrate: rollback
ALTER TABLE windows DROP COLUMN opened;
