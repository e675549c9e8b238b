"""`make bench-serve`: how long the API takes to answer, by how much is stored; a real server, a real client, real stores.

tests/benchmarks/README.md says what is measured. The last line on stdout is one JSON object; a table is on stderr.
"""

import argparse
import asyncio
import json
import os
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import httpx
from pydantic import SecretStr

from deploy.dev import ready_path, running
from deploy.embedded.stack import EmbeddedStack
from deploy.indexing import qdrant
from deploy.searching import retrieval
from deploy.settings import Settings, load
from schemas.searches import Query
from sinks.embeddings.onnx import MiniLmEmbedder
from sinks.migrate import migrate
from sinks.postgres import connect
from streams.topics import create, specs
from tests.benchmarks.curate_steps import Cpu
from tests.benchmarks.curate_store import namespace, seed, sentences
from tests.benchmarks.machine import machine
from tests.benchmarks.serve_load import Ask, Latencies, Ready, at_rate, in_turn
from tests.benchmarks.serve_talks import TURNS, seed_talks, talk
from tests.preparation import administer

SIZES = (10_000, 100_000)
NAMESPACES = 1_000
REQUESTS = 300
RATE_PER_S = 50
SECONDS = 20.0


async def run(sizes: Sequence[int], requests: int, seconds: float) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="bench-serve-") as made, closing(MiniLmEmbedder()) as embedder:
        cache = Path(os.environ.get("MEMSTREAM_CACHE_DIR", Path.home() / ".cache" / "memstream"))
        async with EmbeddedStack(Path(made), cache) as stack:
            stores = [await of_size(stack, Path(made), size, embedder, requests, seconds) for size in sizes]
    return {"machine": machine(), "load": os.getloadavg(), "namespaces": NAMESPACES, "stores": stores}


async def of_size(
    stack: EmbeddedStack, directory: Path, size: int, embedder: MiniLmEmbedder, requests: int, seconds: float
) -> dict[str, Any]:
    async with stored(stack, directory, size, embedder) as (settings, seeded_s):
        async with running("api", ["serve", "--no-keys"], settings) as server:
            address = ready_path("api", settings).read_text()
            limits = httpx.Limits(max_connections=200)
            async with httpx.AsyncClient(base_url=address, timeout=30, limits=limits) as client:
                cpu = Cpu({"api": server.pid})
                measured = await over_http(client, requests, seconds, cpu)
        given = await without_embedding(settings, embedder, requests)
    found = {"memories": size, "seeded_s": round(seeded_s), **measured, "search_without_embedding": given.told()}
    show(found)
    return found


async def over_http(client: httpx.AsyncClient, requests: int, seconds: float, cpu: Cpu) -> dict[str, Any]:
    """One client asks in turn; then context blocks come at a rate, whatever became of those before."""
    texts = questions()
    for number in range(30):  # imports, statements that are prepared, pages that are read
        await client.post("/v1/search", json=search(number, next(texts)))
    block_with_tail = (await client.post("/v1/context", json=block(0, next(texts)))).raise_for_status().json()
    if len(block_with_tail["messages"]) != TURNS:
        raise AssertionError(f"a block should tell the {TURNS} messages that wait, and is {block_with_tail}")
    found: dict[str, Any] = {}
    asked: dict[str, Ask] = {
        "list": lambda number: client.get("/v1/memories", params={"namespace": namespace(number % NAMESPACES)}),
        "list_again": lambda number: client.get("/v1/memories", params={"namespace": namespace(number % 20)}),
        "search": lambda number: client.post("/v1/search", json=search(number, next(texts))),
        "search_by_filters": lambda number: client.post("/v1/search", json=search(number, None)),
        "context": lambda number: client.post("/v1/context", json=block(number, next(texts))),
    }
    for name, ask in asked.items():
        cpu.begin()
        found[name] = (await in_turn(ask, requests)).told()
        found[name]["api_cpu_ms"] = round(cpu.seconds()["api"] / requests * 1e3, 2)
    cpu.begin()
    rated = await at_rate(asked["context"], RATE_PER_S, seconds)
    found[f"context_at_{RATE_PER_S}_per_s"] = rated.told()
    found[f"context_at_{RATE_PER_S}_per_s"]["api_cpu_share"] = round(cpu.seconds()["api"] / seconds, 2)
    return found


async def without_embedding(settings: Settings, embedder: MiniLmEmbedder, requests: int) -> Latencies:
    """The same search in this process, with the question's vector at hand: what is left of it is PostgreSQL, Qdrant, ranking."""
    texts = questions()
    pool = await connect(settings.postgres_dsn.get_secret_value(), max_size=4)
    try:
        asked = [next(texts) for _ in range(requests)]
        ready = Ready(embedder, dict(zip(asked, await embedder.embed(asked), strict=True)))
        async with qdrant(settings, ready) as vectors:
            search_in = retrieval(pool, ready, vectors)
            return await in_turn(
                lambda number: search_in.search(Query(namespaces=(namespace(number),), text=asked[number])), requests
            )
    finally:
        await pool.close()


@asynccontextmanager
async def stored(
    stack: EmbeddedStack, directory: Path, size: int, embedder: MiniLmEmbedder
) -> AsyncIterator[tuple[Settings, float]]:
    """A database, topics and a collection of their own with so many memories, and how long it took to write them."""
    name = f"bench-{size}"
    await administer(stack.dsn, f'CREATE DATABASE "{name}"')
    dsn = f"{stack.dsn.rpartition('/')[0]}/{name}"
    settings = load().model_copy(
        update={
            "bootstrap_servers": stack.bootstrap_servers,
            "postgres_dsn": SecretStr(dsn),
            "qdrant_url": stack.qdrant_url,
            "qdrant_collection": name,
            "topic_prefix": f"{name}.",
            "data_dir": directory / name,
            "api_port": 0,
            "api_requests_per_minute": 1_000_000,
        }
    )
    settings.data_dir.mkdir()
    await migrate(dsn)
    await create(settings.cluster().client(), specs(settings.topics()), 1)
    began = time.monotonic()
    pool = await connect(dsn, max_size=4)
    async with qdrant(settings, embedder) as vectors:
        await vectors.ensure_collection()
        say(f"writing {size:,} memories")
        await seed(pool, vectors, embedder.dimension, size, NAMESPACES)
    await seed_talks(pool, NAMESPACES)
    await pool.close()
    yield settings, time.monotonic() - began
    async with qdrant(settings, embedder) as vectors:
        await vectors.drop_collection()
    await administer(stack.dsn, f'DROP DATABASE "{name}" WITH (FORCE)')


def questions() -> Iterator[str]:
    """Each once: nobody has embedded it before. They have words of what is stored."""
    return (f"{text.partition(' since ')[0]}?" for text in sentences(7))


def search(number: int, text: str | None) -> dict[str, Any]:
    asked = {"namespaces": [namespace(number % NAMESPACES)], "limit": 10}
    return asked if text is None else asked | {"text": text}


def block(number: int, text: str) -> dict[str, Any]:
    """As chat services ask for it before each answer: what is remembered, and what of the conversation is not yet."""
    place = number % NAMESPACES
    return {"namespaces": [namespace(place)], "conversation_id": talk(place), "text": text, "max_tokens": 500}


def show(found: dict[str, Any]) -> None:
    for name, told in found.items():
        if isinstance(told, dict):
            say(f"{found['memories']:>9,}  {name:<26} " + "  ".join(f"{key} {value}" for key, value in told.items()))


def say(line: str) -> None:
    sys.stderr.write(line + "\n")
    sys.stderr.flush()


def growth(stores: Sequence[dict[str, Any]], name: str, to: int) -> float | None:
    """What p50 would be at a larger size if it went on growing as between the two largest that were measured, in ms; None where
    that is not known."""
    if len(stores) < 2:
        return None
    one, other = stores[-2], stores[-1]
    if "p50_ms" not in one[name] or "p50_ms" not in other[name]:
        return None
    slope = (other[name]["p50_ms"] - one[name]["p50_ms"]) / (other["memories"] - one["memories"])
    return float(round(other[name]["p50_ms"] + slope * (to - other["memories"]), 1))


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.serve", description=__doc__)
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), help="memories stored, apart by commas")
    parser.add_argument("--requests", type=int, default=REQUESTS, help="of each kind")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of context blocks at a rate")
    options = parser.parse_args(argv)
    sizes = [int(size) for size in options.sizes.split(",")]
    told = asyncio.run(run(sizes, options.requests, options.seconds))
    names = ("list", "search", "search_without_embedding", "context")
    told["extrapolated_p50_ms_at_1000000"] = {name: growth(told["stores"], name, 1_000_000) for name in names}
    sys.stdout.write(json.dumps(told) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
