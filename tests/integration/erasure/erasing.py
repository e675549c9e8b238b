"""Erasing a memory on a bench, and a search for words that are left."""

from typing import TYPE_CHECKING, Any
from uuid import uuid4

from schemas.codec import encode
from schemas.extraction.requests import ExtractionRequest
from schemas.memories.commands import Command
from schemas.memories.memories import Memory
from sinks.extraction.answers import Extractions
from sinks.postgres.connection import Pool
from tests.integration.curation_bench import NOON

if TYPE_CHECKING:
    from agents.curation.rules.ledger.outcomes import Outcome
    from tests.integration.curation_bench import Bench

SECRET = "User has a secret zeppelin"


def command(kind: Any, namespace: str = "n", **fields: Any) -> Command:
    return Command(**({"command_id": uuid4().hex, "kind": kind, "namespace": namespace, "at": NOON} | fields))


async def erase(bench: "Bench", memory: Memory, **fields: Any) -> "Outcome":
    return await bench.curator.apply_command(command("erase", memory.namespace, memory_id=memory.memory_id, **fields))


async def tables_with(bench: "Bench", words: str) -> set[str]:
    """The tables of which a row has the words in any column."""
    rows = await bench.pool.fetch("SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'")
    tables = [row["table_name"] for row in rows if not row["table_name"].startswith(("_yoyo", "yoyo"))]
    found = "SELECT EXISTS (SELECT FROM {} AS t WHERE t::text LIKE $1 OR t::text LIKE '%' || encode($2, 'hex') || '%')"
    values = (f"%{words}%", words.encode())
    return {table for table in tables if await bench.pool.fetchval(found.format(table), *values)}


async def hidden(bench: "Bench", namespace: str = "n") -> set[str]:
    rows = await bench.pool.fetch("SELECT message_id FROM hidden_messages WHERE namespace = $1", namespace)
    return {row["message_id"] for row in rows}


async def store_answer(pool: Pool, request: ExtractionRequest, *proposals: dict[str, Any]) -> None:
    """Stores the proposals as the answer to a request."""
    extractions = Extractions(pool)
    answer = encode({"answers": "extraction", "provider": "p", "model": "m", "proposals": proposals})
    await extractions.lease(request, "worker", 60)
    await extractions.store_answer(request.request_id, "worker", answer, provider="p", model="m", usage={}, parts=1)


async def proposed(pool: Pool, request: ExtractionRequest) -> list[str]:
    """The texts of the stored answer."""
    answer = await pool.fetchval("SELECT answer FROM extractions WHERE request_id = $1", request.request_id)
    return [each["text"] for each in answer["proposals"]]
