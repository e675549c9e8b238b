-- Messages that search in what was said leaves out: of memories that users asked to have forgotten, and of the wishes themselves.
-- depends: 036_window_adjustments

-- migrate: apply
CREATE TABLE hidden_messages (
    namespace       text NOT NULL,
    conversation_id text NOT NULL,
    message_id      text NOT NULL,
    hidden_by       text NOT NULL, -- the forgotten memory that comes of it, the wish itself, or the generation that was cut over to
    wish_id         text NOT NULL,
    PRIMARY KEY (conversation_id, message_id, hidden_by, namespace)
);
CREATE INDEX hidden_messages_by_namespace ON hidden_messages (namespace);
CREATE INDEX hidden_messages_by_hidden_by ON hidden_messages (hidden_by);
CREATE INDEX hidden_messages_by_wish ON hidden_messages (wish_id);

-- A wish hides a message in all namespaces; one that a shadow took hides nothing until it is cut over to. The assistant's direct
-- answer repeats what it answers, so it goes with it.
CREATE VIEW hidden_passages AS
SELECT said.conversation_id, said.ordinal
FROM hidden_messages hidden JOIN passages said USING (conversation_id, message_id)
WHERE hidden.namespace NOT LIKE '~%'
UNION
SELECT answer.conversation_id, answer.ordinal
FROM hidden_messages hidden
     JOIN passages said USING (conversation_id, message_id)
     JOIN passages answer ON answer.conversation_id = said.conversation_id AND answer.ordinal = said.ordinal + 1
     JOIN messages m ON m.conversation_id = answer.conversation_id AND m.message_id = answer.message_id
WHERE hidden.namespace NOT LIKE '~%' AND m.role = 'assistant';

-- What was forgotten before this migration.
INSERT INTO hidden_messages (namespace, conversation_id, message_id, hidden_by, wish_id)
SELECT DISTINCT gone.namespace, source->>'conversation_id', source->>'message_id', gone.memory_id, gone.cause->>'wish_id'
FROM memory_versions gone
     JOIN memories ON memories.memory_id = gone.memory_id AND memories.status IN ('deleted', 'expired')
     JOIN memory_versions said ON said.memory_id = gone.memory_id
     CROSS JOIN LATERAL jsonb_array_elements(coalesce(said.after->'sources', '[]')) AS source
WHERE gone.cause ? 'wish_id' AND gone.change IN ('deleted', 'expired');

INSERT INTO hidden_messages (namespace, conversation_id, message_id, hidden_by, wish_id)
SELECT DISTINCT namespace, said->>'conversation_id', said->>'message_id', wish_id, wish_id
FROM forgotten CROSS JOIN LATERAL (VALUES (wish->'message'), (wish->'means')) AS named (said)
WHERE said IS NOT NULL AND jsonb_typeof(said) = 'object';

-- migrate: rollback
DROP VIEW hidden_passages;
DROP TABLE hidden_messages;
