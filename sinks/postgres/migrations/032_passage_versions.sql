-- Passages say how they were built, and which privacy takes nothing out of their message; of older ones nothing is known.
-- depends: 031_resolutions

-- migrate: apply
ALTER TABLE passages ADD COLUMN version smallint, ADD COLUMN clean_under integer;

-- migrate: rollback
ALTER TABLE passages DROP COLUMN clean_under, DROP COLUMN version;
