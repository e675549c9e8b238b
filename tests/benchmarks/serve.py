"""`make bench-serve`: response times of the API by store size, with a real server, client and stores.

tests/benchmarks/README.md says what is measured. The last line on stdout is one JSON object; a table is on stderr.
"""

import argparse
import asyncio
import itertools
import json
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from deploy.embedded.stack import EmbeddedStack
from deploy.settings import Settings
from deploy.wiring.search import index, retrieval
from schemas import codec
from schemas.retrieval.searches import Query
from sinks.postgres.connection import connect
from tests.benchmarks.curate_steps import Cpu
from tests.benchmarks.curate_store import namespace, sentences
from tests.benchmarks.machine import machine
from tests.benchmarks.serve_load import Ask, Client, Latencies, Ready, at_rate, client, in_turn
from tests.benchmarks.serve_store import LARGE, NAMESPACES, Served, served, stored
from tests.benchmarks.serve_streams import streams
from tests.benchmarks.serve_talks import TURNS, talk
from tests.benchmarks.targets import SERVE, checked

SIZES = (10_000, 100_000)
PASSAGES = 10  # for each memory
REQUESTS = 300
RATE_PER_S = 50
SECONDS = 20.0
REPEATED = 20  # questions that are asked again and again
AT_A_RATE = tuple(f"{name}_at_{RATE_PER_S}_per_s" for name in ("context", "context_repeated"))
GROWING = (
    "list",
    "search",
    "search_memories",
    "search_said",
    "search_repeated",
    "search_without_embedding",
    "context",
    "context_repeated",
    *AT_A_RATE,
)
FURTHER = 1_000_000  # memories, of which what was measured says something


async def run(sizes: Sequence[int], passages_each: int, requests: int, seconds: float) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="bench-serve-") as made:
        cache = Path(os.environ.get("MEMSTREAM_CACHE_DIR", Path.home() / ".cache" / "memstream"))
        async with EmbeddedStack(Path(made), cache) as stack:
            stores = [
                await of_size(stack, Path(made), (size, size * passages_each), requests, seconds) for size in sizes
            ]
    return {"machine": machine(), "load": os.getloadavg(), "namespaces": NAMESPACES, "stores": stores}


async def of_size(
    stack: EmbeddedStack, directory: Path, sizes: tuple[int, int], requests: int, seconds: float
) -> dict[str, Any]:
    size, passages = sizes
    say(f"writing {size:,} memories and {passages:,} passages")
    async with stored(stack, directory, size, passages) as (settings, written):
        async with served(stack, settings) as server:
            found = {
                "memories": size,
                "passages": passages,
                **written,
                **await over_http(server, requests, seconds),
            }
            found["streams"] = await streams(server)
        given = await without_embedding(settings, requests)
    found["search_without_embedding"] = given.as_json()
    show(found)
    return found


async def over_http(server: Served, requests: int, seconds: float) -> dict[str, Any]:
    """One client asks in turn; then context blocks come at a rate, whatever became of those before."""
    async with client(server.address, server.tokens[0]) as asking:
        requests_by_kind = asks(asking, questions(), await ids(asking, requests))
        for number in range(30):  # imports, statements that are prepared, pages that are read
            await requests_by_kind["search"](number)
        block_with_tail = codec.decode((await requests_by_kind["context"](0)).content, dict[str, Any])
        if len(block_with_tail.get("messages", ())) != TURNS:
            raise AssertionError(f"a block should tell the {TURNS} messages that wait, and is {block_with_tail}")
        found = {name: await timed(server.cpu, ask, requests) for name, ask in requests_by_kind.items()}
        for name in ("context", "context_repeated"):
            found[f"{name}_at_{RATE_PER_S}_per_s"] = await rated(server.cpu, requests_by_kind[name], seconds)
    return found


async def ids(client: Client, most: int) -> list[str]:
    """The ids of memories, each in another namespace."""
    places = range(min(most, NAMESPACES))
    pages = [await client.get("/v1/memories", namespace=namespace(place), limit=1) for place in places]
    return [page["memories"][0]["memory_id"] for page in (codec.decode(each.content, dict[str, Any]) for each in pages)]


def asks(client: Client, new: Iterator[str], memory_ids: Sequence[str]) -> dict[str, Ask]:
    again = [next(new) for _ in range(REPEATED)]
    return {
        "list": lambda number: client.get("/v1/memories", namespace=namespace(number % NAMESPACES)),
        "list_again": lambda number: client.get("/v1/memories", namespace=namespace(number % 20)),
        "read": lambda number: client.get(f"/v1/memories/{memory_ids[number % len(memory_ids)]}"),
        "search_by_filters": lambda number: client.post("/v1/search", search(number, None)),
        "search": lambda number: client.post("/v1/search", search(number, next(new))),
        "search_memories": lambda number: client.post("/v1/search", search(number, next(new)) | {"in": "memories"}),
        "search_said": lambda number: client.post("/v1/search", search(number, next(new)) | {"in": "said"}),
        "search_large": lambda number: client.post("/v1/search", search(number, next(new)) | {"namespaces": [LARGE]}),
        "search_repeated": lambda number: client.post("/v1/search", search(number, again[number % REPEATED])),
        "context": lambda number: client.post("/v1/context", block(number, next(new))),
        "context_repeated": lambda number: client.post("/v1/context", block(number, again[number % REPEATED])),
    }


async def timed(cpu: Cpu, ask: Ask, requests: int) -> dict[str, Any]:
    """With the CPU milliseconds that each part took for a request."""
    cpu.begin()
    figures = (await in_turn(ask, requests)).as_json()
    return figures | {f"{name}_cpu_ms": round(spent / requests * 1e3, 2) for name, spent in cpu.seconds().items()}


async def rated(cpu: Cpu, ask: Ask, seconds: float) -> dict[str, Any]:
    """With the share of a core that each part took meanwhile."""
    cpu.begin()
    figures = (await at_rate(ask, RATE_PER_S, seconds)).as_json()
    return figures | {f"{name}_cpu_share": round(spent / seconds, 2) for name, spent in cpu.seconds().items()}


async def without_embedding(settings: Settings, requests: int) -> Latencies:
    """The same search in this process, with the question's vector at hand: what is left of it is PostgreSQL, Qdrant, ranking."""
    pool = await connect(settings.postgres_dsn.get_secret_value(), max_size=4)
    try:
        question_texts = list(itertools.islice(questions(), requests))
        async with index(settings) as opened:
            vectors = opened._replace(
                memory_embedder=await Ready.knowing(opened.memory_embedder, question_texts),
                passage_embedder=await Ready.knowing(opened.passage_embedder, question_texts),
            )
            search_in = retrieval(pool, vectors, settings.policies())
            return await in_turn(
                lambda number: search_in.search(
                    Query(namespaces=(namespace(number % NAMESPACES),), text=question_texts[number])
                ),
                requests,
            )
    finally:
        await pool.close()


def questions() -> Iterator[str]:
    """Questions with words of stored texts, each once, so that none is in the cache of vectors."""
    return (f"{text.partition(' since ')[0]}?" for text in sentences(7))


def search(number: int, text: str | None) -> dict[str, Any]:
    body = {"namespaces": [namespace(number % NAMESPACES)], "limit": 10}
    return body if text is None else body | {"text": text}


def block(number: int, text: str) -> dict[str, Any]:
    """Returns the request of a context block, as chat services send it before each answer."""
    place = number % NAMESPACES
    return {"namespaces": [namespace(place)], "conversation_id": talk(place), "text": text, "max_tokens": 500}


def show(found: dict[str, Any]) -> None:
    say(f"{found['memories']:>9,}  written in {found['seeded_s']} s")
    for name, figures in found.items():
        if isinstance(figures, dict):
            say(f"{found['memories']:>9,}  {name:<32} " + "  ".join(f"{key} {value}" for key, value in figures.items()))


def say(line: str) -> None:
    sys.stderr.write(line + "\n")
    sys.stderr.flush()


def extrapolated(stores: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """p50 and p95 of what grows, at a size that was not measured; nothing where it was."""
    if any(each["memories"] >= FURTHER for each in stores):
        return {}
    times = ("p50_ms", "p95_ms")
    return {f"extrapolated_at_{FURTHER}": {n: {t: growth(stores, n, t, FURTHER) for t in times} for n in GROWING}}


def growth(stores: Sequence[dict[str, Any]], name: str, time: str, to: int) -> float | None:
    """What a time (`p50_ms`, `p95_ms`) would be at a larger size if it went on growing as between the two largest that were
    measured, in ms; what it is at the largest where it did not grow, and None where that is not known."""
    if len(stores) < 2:
        return None
    one, other = sorted(stores, key=lambda each: int(each["memories"]))[-2:]
    if time not in one[name] or time not in other[name] or one["memories"] == other["memories"]:
        return None
    slope = (other[name][time] - one[name][time]) / (other["memories"] - one["memories"])
    return float(round(other[name][time] + max(0.0, slope) * (to - other["memories"]), 1))


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.serve", description=__doc__)
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), help="memories stored, apart by commas")
    parser.add_argument("--passages", type=int, default=PASSAGES, help="for each memory")
    parser.add_argument("--requests", type=int, default=REQUESTS, help="of each kind")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of context blocks at a rate")
    parser.add_argument("--check", action="store_true", help="fail where p95 exceeds the limit of a requirement")
    options = parser.parse_args(argv)
    sizes = [int(size) for size in options.sizes.split(",")]
    report = asyncio.run(run(sizes, options.passages, options.requests, options.seconds))
    code = 0
    if options.check:
        code, report["check"] = checked(slowest(report["stores"]), SERVE)
    sys.stdout.write(json.dumps(report | extrapolated(report["stores"])) + "\n")
    return code


def slowest(stores: Sequence[dict[str, Any]]) -> dict[str, float]:
    """The longest p95 of each kind of request, whatever is stored; memories are made while streams are open."""
    took = [(name, figures) for store in stores for name, figures in (store | store["streams"]).items()]
    found: dict[str, float] = {}
    for name, figures in took:
        if isinstance(figures, dict) and "p95_ms" in figures:
            found[name] = max(found.get(name, 0.0), figures["p95_ms"])
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
