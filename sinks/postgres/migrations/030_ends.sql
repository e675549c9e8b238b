-- Memories that hold until a moment of their own, which may lie ahead.
-- depends: 029_skipped

-- migrate: apply
DROP INDEX memories_to_expire;
CREATE INDEX memories_to_expire ON memories (least(expires_at, valid_until))
    WHERE status = 'active' AND least(expires_at, valid_until) IS NOT NULL;

-- migrate: rollback
DROP INDEX memories_to_expire;
CREATE INDEX memories_to_expire ON memories (expires_at) WHERE status = 'active' AND expires_at IS NOT NULL;
