-- Conversations by their last message.
-- depends: 038_pipeline

-- migrate: apply
-- Each checkpoint rewrites the rows of its windows, and PostgreSQL spares their indexes only while no indexed value changes: the index
-- holds the ten minutes that the last message fell into, and not its moment.
ALTER TABLE windows
    ADD COLUMN last_message_at timestamptz,
    ADD COLUMN active_at timestamptz GENERATED ALWAYS AS (coalesce(last_message_at, updated_at)) STORED,
    ADD COLUMN active_slot timestamptz
        GENERATED ALWAYS AS (date_bin('10 minutes', coalesce(last_message_at, updated_at), timestamptz '2000-01-01 00:00Z')) STORED;
CREATE INDEX windows_by_activity ON windows (active_slot);

-- migrate: rollback
DROP INDEX windows_by_activity;
ALTER TABLE windows DROP COLUMN active_slot, DROP COLUMN active_at, DROP COLUMN last_message_at;
