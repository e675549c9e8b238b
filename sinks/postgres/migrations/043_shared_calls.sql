-- Parked requests that may share a model call: what they have in common, and how many tokens each adds to it.
-- depends: 039_kinds

-- migrate: apply
ALTER TABLE parked ADD COLUMN shares text, ADD COLUMN tokens integer NOT NULL DEFAULT 0;

CREATE INDEX parked_to_share ON parked (shares) WHERE shares IS NOT NULL;

-- migrate: rollback
DROP INDEX parked_to_share;
ALTER TABLE parked DROP COLUMN shares, DROP COLUMN tokens;
