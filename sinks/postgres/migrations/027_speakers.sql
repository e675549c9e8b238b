-- Who speaks in a conversation, without reading all of it.
-- depends: 026_passage_order

-- migrate: apply
CREATE INDEX messages_by_speaker ON messages (conversation_id, user_id) WHERE user_id IS NOT NULL;

-- migrate: rollback
DROP INDEX messages_by_speaker;
