-- Memories by the messages that they come from.
-- depends: 024_passages

-- migrate: apply
CREATE INDEX memories_by_source ON memories USING gin (sources jsonb_path_ops);

-- migrate: rollback
DROP INDEX memories_by_source;
