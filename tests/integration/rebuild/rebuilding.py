"""A namespace with history, and its rebuild from published records."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any
from uuid import uuid4

from agents.rebuild.rebuilder import ReadCounts, Rebuild
from schemas.extraction.candidates import Source
from schemas.kafka.records import Outgoing
from schemas.memories.commands import Command
from schemas.policies.policies import Policies
from sinks.postgres.connection import Pool
from sinks.rebuild.rebuilds import Rebuilds
from tests.fakes.log import FakeLog
from tests.integration.curation_bench import NOON, Bench

COMPARED = "SELECT to_jsonb(memories) AS row FROM memories WHERE status <> 'deleted' ORDER BY memory_id"
DELETED = "SELECT to_jsonb(memories) AS row FROM memories WHERE status = 'deleted' ORDER BY memory_id"
VERSIONS = "SELECT to_jsonb(v) AS row FROM memory_versions v ORDER BY memory_id, version"
HIDDEN = "SELECT to_jsonb(h) AS row FROM hidden_messages h ORDER BY conversation_id, message_id, hidden_by"
ERASED = "SELECT to_jsonb(e) - 'erased_at' AS row FROM erased_memories e ORDER BY memory_id"
SEQUENCES = "SELECT namespace, sequence FROM namespaces ORDER BY namespace"


async def command(bench: Bench, kind: str, namespace: str = "n", **fields: Any) -> None:
    given = Command(command_id=uuid4().hex, kind=kind, namespace=namespace, at=bench.now(), **fields)  # type: ignore[arg-type]
    await bench.curator.apply_command(given)


async def alone() -> None:
    """No worker runs."""


async def lived(bench: Bench) -> None:
    """Memories that were created, reinforced, superseded, updated, pinned, deleted, refined, that end or begin later, and that a
    tool stated; and a namespace that was erased."""
    dogs = await bench.remember("The user has 2 dogs")
    await bench.remember("The user has 2 dogs")
    await bench.remember("The user has no dogs at all", contradicts=dogs.memory_id)
    tea = await bench.remember("Tea is better than coffee", tags=("drink",))
    await command(bench, "update", memory_id=tea.memory_id, text="Tea is better than cocoa", importance=0.9)
    rex = await bench.remember("User has a fox called Rex")
    await bench.remember("User has a fox called Rex, blind", refines=rex.memory_id)
    home = await bench.remember("User lives in Turku")
    await bench.remember("User moves to Oulu", contradicts=home.memory_id, valid_from=NOON + timedelta(days=90))
    await bench.remember("User is in Porto", valid_until=NOON + timedelta(days=30))
    page = Source(conversation_id="c", message_id="page", timestamp=NOON, attributed_to="tool fetch_page")
    await bench.remember("The report says 2.9 %", sources=(page,))
    gone = await bench.remember("Something nobody needs")
    for namespace in ("erased", "begun anew"):
        await bench.curator.curate(bench.batch("A secret of mine", "My other secret", namespace=namespace))
        await command(bench, "purge", namespace)
    later = NOON + timedelta(days=1)
    fresh = bench.batch("Said afterwards", namespace="begun anew", extracted_at=later)
    await bench.curator.curate(fresh)
    await command(bench, "delete", memory_id=gone.memory_id)


async def rows(pool: Pool, statement: str) -> list[Any]:
    return [row["row"] for row in await pool.fetch(statement)]


async def sequences(pool: Pool) -> dict[str, int]:
    return {row["namespace"]: row["sequence"] for row in await pool.fetch(SEQUENCES)}


async def rebuilt(pool: Pool, published: Sequence[Outgoing], **options: Any) -> ReadCounts:
    read = await Rebuild(pool, FakeLog(published), Policies(), require_no_workers=alone).run(**options)
    await Rebuilds(pool).end()
    return read
