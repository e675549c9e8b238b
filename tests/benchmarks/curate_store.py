"""A store of a chosen size for bench-curate, and candidates of each type."""

import asyncio
import itertools
import random
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from uuid import uuid4

import numpy as np
from msgspec import structs

from agents.curation.rules.statements.normalise import normalise
from schemas.errors import Retryable
from schemas.extraction.candidates import Candidate, CandidateBatch, Source
from schemas.memories.memories import Memory
from sinks.embeddings.port import unit_rows
from sinks.postgres.connection import Pool
from sinks.postgres.queries import query
from sinks.vectors.port import Point, VectorIndex, to_bytes
from tests.builders.memories import a_memory

AT = datetime(2026, 1, 1, tzinfo=UTC)
PAGE = 1_000
WHO = ("sister", "neighbour", "boss", "uncle", "teacher", "dentist", "landlord", "colleague", "cousin", "trainer")
DOES = ("repairs", "collects", "sells", "paints", "restores", "photographs", "studies", "imports", "rents", "designs")
WHAT = ("clocks", "boats", "violins", "maps", "lamps", "bicycles", "stamps", "carpets", "kites", "cameras", "wells")
WHERE = ("Porto", "Lyon", "Graz", "Cork", "Turku", "Bergen", "Siena", "Gdansk", "Bilbao", "Leuven", "Malmo", "Split")


def sentences(seed: int, since: int = 1950) -> Iterator[str]:
    """Statements that differ in names and things, as those about one person do; without repeats."""
    chosen = random.Random(seed)
    every = list(itertools.product(WHO, DOES, WHAT, WHERE))
    chosen.shuffle(every)
    for year in itertools.count(since):
        for who, does, what, where in every:
            yield f"User's {who} {does} {what} in {where} since {year}"


def namespace(number: int) -> str:
    return f"bench/{number}"


async def seed(pool: Pool, vectors: VectorIndex, dimension: int, memories: int, namespaces: int) -> list[Memory]:
    """Live memories, evenly over the namespaces, with random vectors: only their text makes one a duplicate."""
    made = [memory(number, text, namespaces) for number, text in zip(range(memories), sentences(1), strict=False)]
    chosen = np.random.default_rng(1)
    names = [(namespace(number), memories) for number in range(namespaces)]
    await pool.executemany("INSERT INTO namespaces (namespace, sequence) VALUES ($1, $2)", names)
    for start in range(0, memories, PAGE):
        page = made[start : start + PAGE]
        rows = unit_rows(chosen.standard_normal((len(page), dimension), np.float32))
        held = [(each.memory_id, vectors.embedding_model, to_bytes(row)) for each, row in zip(page, rows, strict=True)]
        points = [Point.of(each, row) for each, row in zip(page, rows, strict=True)]
        async with asyncio.TaskGroup() as writing:
            writing.create_task(store(pool, page, held))
            writing.create_task(written(vectors, points))
    await pool.execute("ANALYZE")
    return made


async def written(vectors: VectorIndex, points: Sequence[Point]) -> None:
    """Again, as a worker does it: a server that rebuilds its index may answer late."""
    for _ in range(5):
        try:
            await vectors.upsert(points)
            return
        except Retryable as exc:
            failed = exc
    raise failed


def memory(number: int, text: str, namespaces: int) -> Memory:
    source = Source(conversation_id="seeded", message_id=str(number), timestamp=AT)
    return a_memory(
        text,
        AT,
        memory_id=str(uuid4()),
        namespace=namespace(number % namespaces),
        sequence=number + 1,
        created_by="benchmark",
        language="en",
        sources=(source,),
    )


async def store(pool: Pool, memories: Sequence[Memory], held: Sequence[tuple[str, str, bytes]]) -> None:
    """Rows as the curator writes them, with their vectors."""
    rows = [structs.asdict(each) | {"normalised": normalise(each.text)} for each in memories]
    await pool.execute("INSERT INTO memories SELECT (jsonb_populate_recordset(NULL::memories, $1)).*", rows)
    await pool.execute(query("memories", "store_embeddings"), *map(list, zip(*held, strict=True)))


class Arrivals:
    """Parts for the namespaces in turn. Of their candidates half say something new, a quarter what is stored, up to its
    spelling, and a quarter what was new shortly before in other words."""

    def __init__(self, stored: Sequence[Memory], namespaces: int) -> None:
        self._new = sentences(2, since=1900)  # years that no stored memory has, up to 100,000 of them
        self._stored = {
            name: [each for each in stored if each.namespace == name] for name in map(namespace, range(namespaces))
        }
        self._recent: dict[str, str] = {}
        self._number = 0

    def part(self, size: int) -> CandidateBatch:
        names = list(self._stored)
        self._number += 1
        name = names[self._number % len(names)]
        said = tuple(self._candidate(name, place) for place in range(size))
        return CandidateBatch(
            request_id=uuid4().hex,
            conversation_id=f"c{self._number}",
            partition=0,
            namespace=name,
            part=1,
            parts=1,
            policy="default",
            policy_version=1,
            provider="benchmark",
            candidates=said,
            extracted_at=AT,
        )

    def _candidate(self, name: str, place: int) -> Candidate:
        turn = (self._number + place) % 4
        if turn == 0:
            text = self._stored[name][self._number * 7 % len(self._stored[name])].text.upper()
        elif turn == 1 and name in self._recent:
            text = "The " + self._recent[name][0].lower() + self._recent[name][1:]
        else:
            text = self._recent[name] = next(self._new)
        source = Source(conversation_id=f"c{self._number}", message_id=str(place), timestamp=AT)
        return Candidate(
            candidate_id=uuid4().hex, kind="fact", text=text, sources=(source,), confidence=0.9, importance=0.5
        )
