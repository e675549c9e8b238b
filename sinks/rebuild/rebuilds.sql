-- name: positions
SELECT topic, partition, position FROM rebuild_positions

-- name: begin
INSERT INTO rebuild_positions (topic, partition, position)
SELECT * FROM unnest($1::text[], $2::integer[], $3::bigint[])
ON CONFLICT DO NOTHING

-- name: advance
UPDATE rebuild_positions SET position = $3 WHERE topic = $1 AND partition = $2

-- name: holds_memories
SELECT EXISTS (SELECT FROM memories) OR EXISTS (SELECT FROM namespaces WHERE sequence > 0)

-- name: heads
-- Raises the sequences of namespaces to those in the records. A sequence never decreases.
WITH recorded AS (
    INSERT INTO rebuild_namespaces (namespace, sequence) SELECT * FROM unnest($1::text[], $2::bigint[])
    ON CONFLICT (namespace) DO UPDATE SET sequence = greatest(rebuild_namespaces.sequence, excluded.sequence)
)
INSERT INTO namespaces (namespace, sequence) SELECT * FROM unnest($1::text[], $2::bigint[])
ON CONFLICT (namespace) DO UPDATE SET sequence = greatest(namespaces.sequence, excluded.sequence)

-- name: record_latest
-- Stores the state of each memory in the records, unless a later one is stored: the records of a namespace may lie in
-- two partitions, if partitions were added. `in_state` is the latest sequence in memory.state, which events do not
-- lower.
INSERT INTO rebuild_memories (memory_id, namespace, version, sequence, gone, in_state)
SELECT * FROM unnest($1::text[], $2::text[], $3::integer[], $4::bigint[], $5::boolean[], $6::bigint[])
ON CONFLICT (memory_id) DO UPDATE SET
    namespace = excluded.namespace, version = excluded.version, sequence = excluded.sequence, gone = excluded.gone,
    in_state = greatest(rebuild_memories.in_state, excluded.in_state)
WHERE rebuild_memories.sequence < excluded.sequence
   OR rebuild_memories.sequence = excluded.sequence AND rebuild_memories.in_state < excluded.in_state

-- name: drop_older
-- Deletes memories of the backup that are older than the records, with their vectors, which may belong to another text.
DELETE FROM memories USING unnest($1::text[], $2::bigint[]) AS latest (memory_id, sequence)
WHERE memories.memory_id = latest.memory_id AND memories.sequence < latest.sequence

-- name: store
-- Stores memories of which no later record is known, unless they have a row: with $2 false those that exist, with $2
-- true deleted ones, without content, so that a repeated candidate does not restore them.
INSERT INTO memories
SELECT stored.* FROM unnest($1::jsonb[]) AS given, jsonb_populate_record(NULL::memories, given) AS stored
WHERE EXISTS (SELECT FROM rebuild_memories AS known
              WHERE known.memory_id = stored.memory_id AND known.sequence = stored.sequence AND known.gone = $2)
ON CONFLICT DO NOTHING

-- name: drop_versions_before
-- Deletes the versions of erased memories from before their erasure.
DELETE FROM memory_versions USING unnest($1::text[], $2::bigint[]) AS latest (memory_id, sequence)
WHERE memory_versions.memory_id = latest.memory_id AND (after ->> 'sequence')::bigint < latest.sequence

-- name: store_version
INSERT INTO memory_versions (memory_id, version, namespace, change, before, after, cause, at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
ON CONFLICT DO NOTHING

-- name: complete_versions
-- Adds to deletions the memory's content from the previous version: events publish a deletion without it.
UPDATE memory_versions AS deletion SET before = earlier.after
FROM memory_versions AS earlier
WHERE deletion.before IS NULL AND deletion.after ->> 'status' = 'deleted'
  AND earlier.memory_id = deletion.memory_id AND earlier.version = deletion.version - 1

-- name: drop_unrecorded
-- Deletes memories of a backup without a record: they were deleted or erased so long ago that compaction removed their
-- tombstones. Memories decided after the last record, which wait in the outbox, stay.
DELETE FROM memories USING namespaces
LEFT JOIN rebuild_namespaces AS heads USING (namespace)
WHERE memories.namespace = namespaces.namespace AND memories.status <> 'deleted'
  AND NOT EXISTS (SELECT FROM rebuild_memories AS known WHERE known.memory_id = memories.memory_id AND NOT known.gone)
  AND (memories.sequence <= heads.sequence
       OR heads.sequence IS NULL AND NOT EXISTS (SELECT FROM outbox WHERE outbox.namespace = memories.namespace))

-- name: drop_shadows
-- Deletes generations that are not live in all their namespaces. Their shadows are not in the records, so a cutover
-- would replace memories with nothing.
DELETE FROM generations
WHERE status <> 'cutover' OR EXISTS (
    SELECT FROM generation_namespaces AS fed
    WHERE fed.generation_id = generations.generation_id AND fed.first_sequence IS NULL
)

-- name: drop_lone_versions
-- Deletes versions of memories that were erased, or that were deleted before the beginning of memory.events.
DELETE FROM memory_versions WHERE NOT EXISTS (SELECT FROM memories WHERE memories.memory_id = memory_versions.memory_id)

-- name: drop_published
-- Deletes records from the outbox of a backup that were published since. Publishing them again would overwrite newer
-- states with older ones.
DELETE FROM outbox USING rebuild_namespaces AS heads
WHERE outbox.namespace = heads.namespace AND outbox.target = 'kafka'
  AND CASE outbox.topic
      WHEN 'memory.events' THEN (convert_from(payload, 'UTF8')::jsonb -> 'data' ->> 'sequence')::bigint <= heads.sequence
      WHEN 'memory.state' THEN coalesce(
          (convert_from(payload, 'UTF8')::jsonb ->> 'sequence')::bigint,
          (SELECT (header ->> 1)::bigint FROM jsonb_array_elements(headers) AS header
           WHERE header ->> 0 = 'memstream-sequence')
      ) <= heads.sequence
      ELSE false END

-- name: behind_in_state
-- Memories with a change in memory.events that is missing in memory.state.
SELECT known.memory_id, known.namespace, known.version, known.sequence, known.gone
FROM rebuild_memories AS known
WHERE known.in_state < known.sequence AND (known.in_state > 0 OR NOT known.gone)

-- name: standing
SELECT (SELECT count(*) FROM memories WHERE status <> 'deleted') AS memories,
       (SELECT count(*) FROM namespaces) AS namespaces,
       (SELECT count(*) FROM memory_versions) AS versions

-- name: fenced
SELECT namespace, purged_at FROM purges

-- name: end
TRUNCATE rebuild_positions, rebuild_memories, rebuild_namespaces
