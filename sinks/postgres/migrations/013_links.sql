-- Related memories, and what compaction may take, in the order in which it goes.
-- depends: 010_purges

-- migrate: apply
ALTER TABLE memories ADD COLUMN links jsonb NOT NULL DEFAULT '[]';
CREATE INDEX memories_by_link ON memories USING gin (links jsonb_path_ops) WHERE links <> '[]';
CREATE INDEX memories_to_compact ON memories (namespace, importance, created_at, memory_id)
    WHERE status = 'active' AND NOT pinned;

-- migrate: rollback
DROP INDEX memories_to_compact;
DROP INDEX memories_by_link;
ALTER TABLE memories DROP COLUMN links;
