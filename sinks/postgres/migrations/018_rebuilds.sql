-- How far a rebuild from Kafka has come: there while one is under way, empty otherwise. Ids and numbers, no words.
-- depends: 017_generations

-- migrate: apply
CREATE TABLE rebuild_positions (
    topic     text    NOT NULL,
    partition integer NOT NULL,
    position  bigint  NOT NULL,
    PRIMARY KEY (topic, partition)
);

-- The latest that was told of each memory; `in_state` is the latest sequence under which memory.state tells of it.
CREATE TABLE rebuild_memories (
    memory_id text    PRIMARY KEY,
    namespace text,
    version   integer,
    sequence  bigint  NOT NULL,
    gone      boolean NOT NULL,
    in_state  bigint  NOT NULL
);

CREATE TABLE rebuild_namespaces (
    namespace text   PRIMARY KEY,
    sequence  bigint NOT NULL
);

-- migrate: rollback
DROP TABLE rebuild_namespaces;
DROP TABLE rebuild_memories;
DROP TABLE rebuild_positions;
