-- Memories that stop being live at a moment of their own.
-- depends: 008_pinned

-- migrate: apply
ALTER TABLE memories ADD COLUMN expires_at timestamptz;
ALTER TABLE memories DROP CONSTRAINT memories_status_check;
ALTER TABLE memories ADD CONSTRAINT memories_status_check
    CHECK (status IN ('active', 'superseded', 'expired', 'deleted'));
CREATE INDEX memories_to_expire ON memories (expires_at) WHERE status = 'active' AND expires_at IS NOT NULL;

-- migrate: rollback
DROP INDEX memories_to_expire;
UPDATE memories SET status = 'deleted' WHERE status = 'expired';
ALTER TABLE memories DROP CONSTRAINT memories_status_check;
ALTER TABLE memories ADD CONSTRAINT memories_status_check CHECK (status IN ('active', 'superseded', 'deleted'));
ALTER TABLE memories DROP COLUMN expires_at;
