-- Passages are numbered by conversation, whichever namespaces they are found in, and say which text they were made of.
-- depends: 025_memory_sources

-- migrate: apply
UPDATE passages p SET ordinal = placed.ordinal
FROM (SELECT passage_id, dense_rank() OVER (PARTITION BY conversation_id ORDER BY m.said_at, m.partition, m.position) - 1 AS ordinal
      FROM passages JOIN messages m USING (conversation_id, message_id)) AS placed
WHERE placed.passage_id = p.passage_id;

ALTER TABLE passages ADD COLUMN digest integer; -- of the text as it was indexed; of passages without one nothing is known
DROP INDEX passages_by_namespace;
CREATE INDEX passages_by_namespace ON passages (namespace);
CREATE INDEX passages_by_conversation ON passages (conversation_id, ordinal);

-- migrate: rollback
DROP INDEX passages_by_conversation;
DROP INDEX passages_by_namespace;
CREATE INDEX passages_by_namespace ON passages (namespace, conversation_id, ordinal) INCLUDE (said_at);
ALTER TABLE passages DROP COLUMN digest;
