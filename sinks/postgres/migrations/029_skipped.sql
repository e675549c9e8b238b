-- How much each consumer group skipped at its first start.
-- depends: 028_erased_speakers

-- migrate: apply
ALTER TABLE origins ADD COLUMN skipped bigint NOT NULL DEFAULT 0;

-- migrate: rollback
ALTER TABLE origins DROP COLUMN skipped;
