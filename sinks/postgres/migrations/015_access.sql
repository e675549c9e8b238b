-- How often memories were read, apart from them: reading writes no versions and tells nobody.
-- depends: 010_purges

-- migrate: apply
CREATE TABLE memory_accesses (
    memory_id        text        PRIMARY KEY REFERENCES memories ON DELETE CASCADE,
    access_count     bigint      NOT NULL,
    last_accessed_at timestamptz NOT NULL
) WITH (fillfactor = 70);

-- migrate: rollback
DROP TABLE memory_accesses;
