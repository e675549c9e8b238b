"""`make bench-curate`: candidates a second through the curator and its sinks by store size, and the time of each step.

tests/benchmarks/README.md says what is measured. The last line on stdout is one JSON object; a table is on stderr.
"""

import argparse
import asyncio
import json
import os
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from qdrant_client import AsyncQdrantClient

from agents.curation.compactor import Compactor
from agents.curation.curator import Curator
from agents.curation.editor import Editor
from agents.models.offline.provider import OfflineProvider
from deploy.embedded.postgres.server import EmbeddedPostgres
from deploy.embedded.vectors.process import EmbeddedVectors
from schemas.policies.policies import Policies, Policy
from sinks.classification.comparer import OnnxComparer
from sinks.embeddings.onnx import OnnxEmbedder
from sinks.postgres.connection import connect
from sinks.postgres.migrate import migrate
from tests.benchmarks.curate_steps import (
    Cpu,
    Discarding,
    Spent,
    TimedComparer,
    TimedEmbedder,
    TimedProjector,
    TimedVectors,
)
from tests.benchmarks.curate_store import Arrivals, seed
from tests.benchmarks.machine import machine
from tests.embedders import packaged_embedder
from tests.preparation import administer

SIZES = (1_000, 10_000)
NAMESPACES = (10, 1)
LARGEST_LIMIT = 10_000  # that a policy may have
ROOM = 5_000  # what a namespace may have beside what is stored, so that nothing goes
CANDIDATES = 4  # of a part
BY_CANDIDATES = (1, 4, 16)
PARTS = 60
AT_ONCE = 4  # what a worker decides at once by default
APART = ("embed", "compare", "neighbours", "project")
STEPS = (*APART, "project_to_qdrant", "transaction")  # of `project`, `project_to_qdrant` is a part


async def run(sizes: Sequence[int]) -> dict[str, Any]:
    stores = []
    with (
        tempfile.TemporaryDirectory(prefix="bench-curate-") as directory,
        closing(packaged_embedder()) as embedder,
        closing(OnnxComparer()) as comparer,
    ):
        postgres, vectors = EmbeddedPostgres(Path(directory) / "pg"), EmbeddedVectors(Path(directory) / "vectors")
        await asyncio.gather(postgres.start(), vectors.start())
        try:
            for size in sizes:
                for way in ways(size):
                    async with prepared(postgres.dsn, vectors.url, embedder, comparer, way) as bench:
                        cpu = Cpu({"worker": os.getpid(), "postgres": postgres.pid, "qdrant": vectors.pid})
                        stores.append(await figures(bench, cpu, way))
                        tell(stores[-1])
        finally:
            await asyncio.gather(postgres.stop(), vectors.stop())
    return {"machine": machine(), "candidates_of_a_part": CANDIDATES, "at_once": AT_ONCE, "stores": stores}


class Way(NamedTuple):
    """A store: the number of memories, of namespaces, and the limit of a namespace."""

    memories: int
    namespaces: int
    limit: int | None = None

    @property
    def policies(self) -> Policies:
        return Policies((Policy(name="default", max_memories=self.limit),))

    def __str__(self) -> str:
        return f"bench_{self.memories}_{self.namespaces}_{self.limit or 0}"


def ways(memories: int) -> list[Way]:
    """Without a limit; and, as far as there can be one, in one namespace with room and in one that is full."""
    unlimited = [Way(memories, namespaces) for namespaces in NAMESPACES]
    limits = [limit for limit in (memories + ROOM, memories) if limit <= LARGEST_LIMIT]
    return [*unlimited, *(Way(memories, 1, limit) for limit in limits)]


class Bench:
    """A curator on a seeded store, and its input."""

    def __init__(self, curator: Curator, spent: Spent, arrivals: Arrivals, seeded_s: float) -> None:
        self.curator = curator
        self.spent = spent
        self.arrivals = arrivals
        self.seeded_s = seeded_s

    async def one_by_one(self, parts: int, candidates: int) -> list[defaultdict[str, float]]:
        """Seconds of each part by step; `whole` is all of it, `transaction` what is left: reading, deciding, writing."""
        took: list[defaultdict[str, float]] = []
        for _ in range(parts):
            self.spent.seconds.clear()
            part, begun = self.arrivals.part(candidates), time.perf_counter()
            await self.curator.curate(part)
            each = defaultdict(float, self.spent.seconds)
            each["whole"] = time.perf_counter() - begun
            each["transaction"] = each["whole"] - sum(each[step] for step in APART)
            took.append(each)
        return took

    async def at_once(self, parts: int, candidates: int) -> float:
        """The seconds that all of them take, with this number of them concurrently."""
        waiting = [self.arrivals.part(candidates) for _ in range(parts)]
        begun = time.perf_counter()

        async def work() -> None:
            while waiting:
                await self.curator.curate(waiting.pop())

        await asyncio.gather(*(work() for _ in range(AT_ONCE)))
        return time.perf_counter() - begun


@asynccontextmanager
async def prepared(
    dsn: str, qdrant_url: str, embedder: OnnxEmbedder, comparer: OnnxComparer, way: Way
) -> AsyncIterator[Bench]:
    """A bench with its own database and collection."""
    name, spent = str(way), Spent()
    await administer(dsn, f"CREATE DATABASE {name}")
    own = urlsplit(dsn)._replace(path=f"/{name}").geturl()
    await migrate(own)
    pool = await connect(own, max_size=2 * AT_ONCE)
    client = AsyncQdrantClient(url=qdrant_url, timeout=600, check_compatibility=False)
    settings = {"dimension": embedder.dimension, "embedding_model": embedder.model, "collection": name}
    vectors = TimedVectors(client, spent, **settings)
    try:
        await vectors.ensure_collection()
        begun = time.perf_counter()
        stored = await seed(pool, vectors, embedder.dimension, way.memories, way.namespaces)
        seeded_s = time.perf_counter() - begun
        timed = TimedEmbedder(embedder, spent)
        projector = TimedProjector(spent, pool, vectors, Discarding())
        compactor = Compactor(OfflineProvider(), timed)
        curator = Curator(
            pool,
            vectors,
            timed,
            projector,
            way.policies,
            now,
            compactor,
            Editor(OfflineProvider()),
            comparer=TimedComparer(comparer, spent),
            concurrency=AT_ONCE,
        )
        yield Bench(curator, spent, Arrivals(stored, way.namespaces), seeded_s)
        await vectors.drop_collection()
    finally:
        await client.close()
        await pool.close()
        await administer(dsn, f"DROP DATABASE {name} WITH (FORCE)")


def now() -> datetime:
    return datetime.now(UTC)


async def figures(bench: Bench, cpu: Cpu, way: Way) -> dict[str, Any]:
    await bench.one_by_one(10, CANDIDATES)  # connections, plans, the model: what comes first is slower
    cpu.begin()
    took = await bench.one_by_one(PARTS, CANDIDATES)
    cpu_s, whole_s = cpu.seconds(), [each["whole"] for each in took]
    at_once_s = [await bench.at_once(PARTS // 2, CANDIDATES) for _ in range(3)]
    by_candidates = {count: await bench.one_by_one(max(5, PARTS // count), count) for count in BY_CANDIDATES}
    return {
        **way._asdict(),
        "candidates_per_s": round(PARTS // 2 * CANDIDATES / statistics.median(at_once_s), 1),
        "candidates_per_s_at_best": round(PARTS // 2 * CANDIDATES / min(at_once_s), 1),
        "cpu_ms_of_a_candidate": {name: round(s / PARTS / CANDIDATES * 1e3, 2) for name, s in cpu_s.items()},
        "part_ms": milliseconds(whole_s),
        "steps_ms_of_a_part": {step: milliseconds([each[step] for each in took]) for step in STEPS},
        "ms_of_a_candidate_by_size_of_part": {
            str(count): milliseconds([each["whole"] / count for each in parts])
            for count, parts in by_candidates.items()
        },
        "seeded_s": round(bench.seeded_s, 1),
    }


def milliseconds(seconds: Sequence[float]) -> dict[str, float]:
    """Where other work runs beside it, the least says more of the code than the median."""
    figures = {"p50": statistics.median(seconds), "p95": statistics.quantiles(seconds, n=20)[-1], "least": min(seconds)}
    return {name: round(figure * 1e3, 2) for name, figure in figures.items()}


def tell(store: dict[str, Any]) -> None:
    parts = ", ".join(f"{step} {ms['p50']} ({ms['least']})" for step, ms in store["steps_ms_of_a_part"].items())
    sys.stderr.write(
        f"{store['memories']:,} memories in {store['namespaces']} namespaces, at most {store['limit']} in each: "
        f"{store['candidates_per_s']} candidates/s, "
        f"CPU ms of a candidate {store['cpu_ms_of_a_candidate']}; median and least ms of a part: {parts}\n"
    )


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="curate", description=__doc__)
    parser.add_argument("--sizes", type=lambda said: [int(size) for size in said.split(",")], default=SIZES)
    options = parser.parse_args(argv)
    sys.stdout.write(json.dumps(asyncio.run(run(options.sizes))) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
