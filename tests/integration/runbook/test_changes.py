"""Runs the runbook's pages about changes and restores."""

import asyncio
import json
from functools import partial
from pathlib import Path
from typing import Any

import asyncpg
import pytest
from aiokafka.partitioner import murmur2

from schemas.kafka import topics
from sinks.postgres.migrate import MIGRATIONS
from tests.builders.proposals import command, curated
from tests.command_line import run_here
from tests.deployment import Deployment, eventually
from tests.integration.runbook.conftest import MARA, Open, ended, message, said
from tests.servers.embeddings import EmbeddingServer
from tests.servers.scripted import in_a_thread

pytestmark = pytest.mark.heavy

MEMORIES = (
    "SELECT memory_id, namespace, text, version, sequence, status FROM memories WHERE status <> 'deleted' ORDER BY 1"
)
SEQUENCES = "SELECT namespace, sequence FROM namespaces WHERE sequence > 0 ORDER BY namespace"
ARCHIVED = "SELECT conversation_id, message_id FROM messages ORDER BY 1, 2"
UNSEARCHABLE = """
    SELECT message_id FROM messages m
    WHERE role IN ('user', 'assistant') AND content <> ''
      AND NOT EXISTS (SELECT FROM passages p WHERE p.conversation_id = m.conversation_id AND p.message_id = m.message_id)
"""


async def standing(deployment: Deployment) -> list[Any]:
    return [await deployment.fetch(statement) for statement in (MEMORIES, SEQUENCES, ARCHIVED)]


async def a_migration_behind(deployment: Deployment) -> None:
    """Rolls back a migration that adds an index; older workers run without it."""
    (path,) = MIGRATIONS.glob("014_*.sql")
    connection = await asyncpg.connect(deployment.dsn)
    try:
        await connection.execute(path.read_text().partition("-- migrate: rollback")[2])
        await connection.execute("DELETE FROM _pogo_migration WHERE migration_id = $1", path.stem)
    finally:
        await connection.close()


async def test_the_upgrade_procedure_works_as_documented(page: Open) -> None:
    tried = page("upgrade.md")
    deployment = tried.deployment
    old = await deployment.worker("old")
    await a_migration_behind(deployment)
    assert "FAIL migrations" in await tried.run()
    assert "applied" in await tried.run()
    await deployment.publish(*said("upgrade-1", "I live in Lisbon."))
    await deployment.worker("new")
    await tried.run()
    await deployment.publish(*said("upgrade-2", "I own 2 boats."))
    assert await old.stop() == 0
    await deployment.settled()
    assert "FAIL" not in await tried.run()
    assert len(await deployment.fetch("SELECT FROM memories WHERE namespace = $1", MARA)) == 2
    tried.done()


async def test_the_restore_procedure_works_as_documented(page: Open, tmp_path: Path) -> None:
    tried = page("restore.md")
    deployment = tried.deployment
    worker = await deployment.worker()
    texts = ("User is allergic to peanuts.", "User owns 7 boats.", "User lives in Porto.")
    await deployment.publish(
        *said("restore-1", "I work as a carpenter."),
        *said("restore-gone", "I am called Zebedee.", "gone"),
        *said("restore-left", "I am called Florence."),
        *(command("create", MARA, text=text) for text in texts),
    )
    await deployment.settled()
    await tried.run()
    ids = {row["text"]: row["memory_id"] for row in await deployment.fetch("SELECT text, memory_id FROM memories")}
    await deployment.publish(
        *said("restore-2", "I like sailing."),
        command("update", MARA, memory_id=ids[texts[1]], text="User owns 8 boats."),
        command("delete", MARA, memory_id=ids[texts[2]]),
        command("purge", "notes/gone"),
    )
    await deployment.settled()
    erase = partial(run_here, deployment.settings, tmp_path, "erase", "--conversation", "restore-left")
    assert (await asyncio.to_thread(erase)).returncode == 0
    await deployment.settled()
    before = await standing(deployment)
    assert await worker.stop() == 0
    await tried.run()
    assert "memories in" in await tried.run()
    assert (await standing(deployment))[:2] == before[:2]
    assert not await deployment.fetch("SELECT FROM messages WHERE user_id = 'gone'"), "what was erased is erased again"
    await tried.run()
    again = await deployment.worker("restored")
    await deployment.settled()
    assert (await standing(deployment))[:2] == before[:2], "candidates that come again change nothing"
    assert await deployment.fetch("SELECT FROM messages WHERE conversation_id = 'restore-left'"), "Kafka still has them"
    erased = partial(
        run_here, deployment.settings, tmp_path, "erase", "--conversation", "restore-left", "--reason", "again"
    )
    assert (await asyncio.to_thread(erased)).returncode == 0
    assert await standing(deployment) == before
    assert await deployment.fetch(UNSEARCHABLE), "what was said after the backup"
    backfill = partial(run_here, deployment.settings, tmp_path, "backfill")
    assert "1 new passage" in (await asyncio.to_thread(backfill)).stdout
    assert not await deployment.fetch(UNSEARCHABLE)
    requests = len(await deployment.records(topics.REQUESTS))
    assert await again.stop() == 0

    await tried.run()
    assert (await standing(deployment))[:2] == before[:2]
    await deployment.worker("rebuilt")
    await deployment.publish(*said("restore-3", "I am allergic to peanuts."))
    await deployment.settled()
    assert "forget" in await tried.run()
    assert not await deployment.fetch("SELECT FROM messages WHERE conversation_id = 'restore-left'")
    assert await deployment.fetch(UNSEARCHABLE), "what was said before"
    assert "new passages" in await tried.run()
    assert not await deployment.fetch(UNSEARCHABLE)
    assert "FAIL" not in await tried.run()
    assert len(await deployment.records(topics.REQUESTS)) == requests + 1, "nothing is asked again"
    tried.done()


async def test_the_embedding_model_change_works_as_documented(page: Open, tmp_path: Path) -> None:
    tried = page("embedding-model.md")
    deployment = tried.deployment
    worker = await deployment.worker()
    texts = ("User is allergic to peanuts.", "User works as a nurse.")
    await deployment.publish(*(command("create", MARA, text=text) for text in texts))
    await curated(deployment)
    search = partial(run_here, deployment.settings, tmp_path, "search", "allergic to peanuts", "-n", MARA)
    with in_a_thread(EmbeddingServer()) as server:
        tried.knows(EMBEDDINGS=server.openai_url)
        chosen = {
            **{"embedder": "openai", "embedder_model": "embed-test", "embedder_base_url": server.openai_url},
            "qdrant_collection": "memories-embed-test",
        }
        await tried.run()
        refused = await asyncio.to_thread(partial(run_here, deployment.settings, tmp_path, "reindex", **chosen))
        assert "stop them, then run `memstream reindex` again" in refused.stderr
        assert await worker.stop() == 0
        assert "FAIL" not in await tried.run()
        meanwhile = await asyncio.to_thread(search)
        assert "peanuts" in meanwhile.stdout
        assert "vectors_failed" not in meanwhile.stderr, "the old collection is searched until nobody needs it"
        moved = await deployment.worker("moved", **chosen)
        await deployment.publish(command("create", MARA, text="User lives in Lisbon."))
        await curated(deployment)
        assert "peanuts" in await tried.run()
        assert await moved.stop() == 0
        await tried.run()
    assert "points written" in await tried.run()
    tried.done()


def moved(conversation: str) -> bool:
    """Whether its key is in another partition of four than of two."""
    place = murmur2(conversation.encode()) & 0x7FFFFFFF
    return place % 2 != place % 4


async def test_scaling_partitions_works_as_documented(page: Open, tmp_path: Path) -> None:
    """Last of all: it changes the topics."""
    tried = page("scaling-partitions.md")
    deployment = tried.deployment
    flushed, left, *_ = [f"moving-{n}" for n in range(1, 20) if moved(f"moving-{n}")]
    assert flushed == "moving-1", "the page names it"
    worker = await deployment.worker()
    await deployment.publish(*said("ended-before", "I own 5 kayaks."))
    await deployment.settled()
    await deployment.publish(
        message(flushed, 1, "I live in Lisbon now."), message(left, 1, "I am allergic to peanuts.")
    )

    async def known() -> bool:
        return await deployment.count("windows WHERE conversation_id LIKE 'moving-%'") == 2

    await eventually(known, "both windows are open")
    await tried.run()
    assert "sent flush" in await tried.run()

    async def extracted() -> bool:
        return bool(await deployment.fetch("SELECT FROM memories WHERE text LIKE '%Lisbon%' AND namespace = $1", MARA))

    await eventually(extracted, "what was flushed is remembered")
    assert await worker.stop() == 0
    assert "FAIL topics" in await tried.run()
    assert "FAIL" not in await tried.run()
    impatient = tmp_path / "policies.json"
    impatient.write_text(json.dumps([{"name": "notes", "match": {"app_id": "notes"}, "triggers": {"abandoned_s": 5}}]))
    four = {"conversation_partitions": 4, "namespace_partitions": 4, "policies_file": impatient}
    grown = Deployment(deployment.settings.model_copy(update=four), deployment.directory)
    worker = await grown.worker("grown")
    for each in (flushed, left):
        await grown.publish(message(each, 2, f"I own {len(each)} boats."), ended(each, 2))
    await grown.settled()
    output = await tried.run()
    assert output.count(left) == 2, "it has a window in each of its partitions"
    requested_ids = [m["message_id"] for request in await grown.values(topics.REQUESTS) for m in request["messages"]]
    assert sorted(each for each in requested_ids if each.startswith("moving-")) == [
        *(f"{flushed}-1", f"{flushed}-2", f"{left}-1", f"{left}-2")
    ], "each message once"
    assert await worker.stop() == 0
    tried.done()
