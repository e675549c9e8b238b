-- Generations that are being discarded: nobody switches to what is left of one.
-- depends: 022_failures_without_words

-- migrate: apply
ALTER TABLE generations DROP CONSTRAINT generations_status_check;
ALTER TABLE generations ADD CONSTRAINT generations_status_check
    CHECK (status IN ('building', 'ready', 'cutover', 'undone', 'discarding'));

-- migrate: rollback
-- Under any other status what is left could be switched to, as if it were all.
DELETE FROM generations WHERE status = 'discarding';
ALTER TABLE generations DROP CONSTRAINT generations_status_check;
ALTER TABLE generations ADD CONSTRAINT generations_status_check
    CHECK (status IN ('building', 'ready', 'cutover', 'undone'));
