-- What is set for one conversation's window besides its policy. A worker of an earlier version leaves the column alone.
-- depends: 035_tellers

-- migrate: apply
ALTER TABLE windows ADD COLUMN adjustments jsonb NOT NULL DEFAULT '{}';

-- migrate: rollback
ALTER TABLE windows DROP COLUMN adjustments;
