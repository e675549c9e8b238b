-- What left a context by hand and can be restored, and prunings that were undone.
-- depends: 041_conversation_list

-- migrate: apply
ALTER TABLE windows ADD COLUMN restorable jsonb;
ALTER TABLE window_prunings ADD COLUMN undone_at timestamptz;

-- migrate: rollback
ALTER TABLE window_prunings DROP COLUMN undone_at;
ALTER TABLE windows DROP COLUMN restorable;
