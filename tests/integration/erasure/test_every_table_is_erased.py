"""Every table with a text column is covered by erasure or has a stated reason not to be."""

from sinks.postgres.connection import Pool

REACHED = {
    # with a namespace (sinks/erasure/purges.sql, sinks/replay/generations.sql)
    *("memories", "memory_versions", "embeddings", "memory_accesses", "outbox", "kinds", "erased_memories"),
    # with a conversation too (sinks/erasure/erasures.sql)
    *("messages", "extractions", "parked", "windows", "window_prunings", "consolidation_findings", "resolutions"),
    *("forgotten", "hidden_messages", "user_settings"),
    # with their messages, or with a namespace alone (sinks/passages/passages.sql)
    "passages",
}
WORDLESS = {
    "audit": "who did what; a reason that an administrator gave",
    "batches": "ids",
    "calibrations": "how models count",
    "commands": "what came of commands, by ids",
    "consolidation_conversations": "ids and counts",
    "consolidation_requests": "ids",
    "consolidation_runs": "ids and counts",
    "consolidation_schedules": "policies",
    "energy": "numbers",
    "energy_reservations": "numbers",
    "erased_conversations": "the fence: ids",
    "erased_namespaces": "the fence: names",
    "erased_rows": "numbers",
    "erased_windows": "numbers",
    "erasures": "the fence: ids, and a reason that whoever asked gave",
    "extraction_parts": "rulings, by ids",
    "generation_conversations": "ids",
    "generation_namespaces": "names",
    "generations": "plans",
    "hidden_passages": "a view: ids and numbers",
    "keys": "keys, as hashes",
    "leaders": "names of workers",
    "model_usage": "ids and numbers",
    "namespaces": "names and sequences",
    "origins": "offsets",
    "passage_backfill": "an id, while a backfill runs",
    "provider_states": "names of workers and providers",
    "purges": "the fence: names",
    "rebuild_memories": "ids, empty outside of a rebuild",
    "rebuild_namespaces": "names, empty outside of a rebuild",
    "rebuild_positions": "offsets",
    "retention_sweeps": "numbers",
    "retrieval_counts": "names of namespaces, and numbers",
}


async def test_every_table_with_text_is_reached_by_erasure_or_listed_as_an_exception(pool: Pool) -> None:
    rows = await pool.fetch(
        "SELECT DISTINCT table_name FROM information_schema.columns WHERE table_schema = 'public' "
        "AND data_type IN ('text', 'jsonb', 'json', 'bytea', 'ARRAY', 'tsvector')"
    )
    tables = {row["table_name"] for row in rows if not row["table_name"].startswith(("_yoyo", "yoyo"))}
    assert tables - REACHED - WORDLESS.keys() == set(), "erase it in sinks/erasure, or say that it holds no words"
