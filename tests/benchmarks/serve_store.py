"""Prepares the stores of bench-serve: a database, topics and collections of a given size, an idle worker, and API
keys."""

import os
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from msgspec import Struct
from pydantic import SecretStr

from deploy.embedded.stack import EmbeddedStack
from deploy.runtime.dev import ready_path, running, running_worker
from deploy.settings import Settings, load
from deploy.wiring.search import index
from schemas.access.keys import Grant
from sinks.access.keys import Keys
from sinks.passages.vectors import SUFFIX
from sinks.postgres.connection import Pool, connect
from sinks.postgres.migrate import migrate
from streams.kafka.topics import create, specs
from tests.benchmarks.curate_steps import Cpu
from tests.benchmarks.curate_store import namespace, seed
from tests.benchmarks.serve_passages import Seeded, seed_passages
from tests.benchmarks.serve_talks import seed_talks
from tests.preparation import administer

NAMESPACES = 1_000
LARGE, LARGE_SHARE = "bench/large", 10  # a namespace with a tenth as many passages as all others together
KEYS = 10
BLOCK = 512  # bytes, of what `stat` counts


class Served(Struct, frozen=True):
    """A real `memstream serve`: where it listens, what lets one in, and whose CPU time counts."""

    address: str
    tokens: tuple[str, ...]
    cpu: Cpu
    pid: int


@asynccontextmanager
async def stored(
    stack: EmbeddedStack, directory: Path, size: int, passages: int
) -> AsyncIterator[tuple[Settings, dict[str, Any]]]:
    """A store with these numbers of memories and passages, the seconds to write them, and the size of passages on disk."""
    settings = await prepared(stack, directory, f"bench-{size}")
    began = time.monotonic()
    pool = await connect(settings.postgres_dsn.get_secret_value(), max_size=4)
    async with index(settings) as indexes:
        await indexes.memories.ensure_collection()
        await seed(pool, indexes.memories, indexes.memory_embedder.dimension, size, NAMESPACES)
        await seed_talks(pool, NAMESPACES)
        await indexes.passages.ensure_collection()
        sizes = [(namespace(number), passages // NAMESPACES) for number in range(NAMESPACES)]
        sizes.append((LARGE, passages // LARGE_SHARE))
        name, before = settings.qdrant_collection + SUFFIX, disk_bytes(stack.vectors.data_dir)
        seeded = await seed_passages(pool, stack.qdrant_url, name, indexes.passage_embedder.dimension, sizes)
        written_s = round(time.monotonic() - began)
        vectors = disk_bytes(stack.vectors.data_dir) - before
        said = {"seeded_s": written_s, "bytes": await bytes_each(pool, seeded, vectors)}
        await pool.close()
        yield settings, said
        await indexes.memories.drop_collection()
        await indexes.passages.drop_collection()
    await administer(stack.dsn, f'DROP DATABASE "{settings.qdrant_collection}" WITH (FORCE)')


def disk_bytes(directory: Path) -> int:
    """Returns the size of the allocated blocks: some files allocate more than they contain."""
    return sum(path.stat().st_blocks * BLOCK for path in directory.rglob("*") if path.is_file())


async def bytes_each(pool: Pool, seeded: Seeded, vectors: int) -> dict[str, Any]:
    rows = await pool.fetchval("SELECT pg_total_relation_size('passages')")
    archive = await pool.fetchval("SELECT pg_total_relation_size('messages')")
    return {
        "messages": seeded.messages,
        "passages": seeded.passages,
        "characters_a_message": round(seeded.characters / seeded.messages),
        "archive_a_message": round(archive / seeded.messages),
        "passages_postgres_a_message": round(rows / seeded.messages),
        "passages_qdrant_a_message": round(vectors / seeded.messages),
        "passages_postgres_each": round(rows / seeded.passages),
        "passages_qdrant_each": round(vectors / seeded.passages),
    }


async def prepared(stack: EmbeddedStack, directory: Path, name: str) -> Settings:
    await administer(stack.dsn, f'CREATE DATABASE "{name}"')
    settings = load().model_copy(
        update={
            "bootstrap_servers": stack.bootstrap_servers,
            "postgres_dsn": SecretStr(f"{stack.dsn.rpartition('/')[0]}/{name}"),
            "qdrant_url": stack.qdrant_url,
            "qdrant_collection": name,
            "topic_prefix": f"{name}.",
            "data_dir": directory / name,
            "api_port": 0,
            "api_requests_per_minute": 1_000_000,
        }
    )
    settings.data_dir.mkdir()
    await migrate(settings.postgres_dsn.get_secret_value())
    await create(settings.cluster().client(), specs(settings.topics()), 1)
    return settings


@asynccontextmanager
async def served(stack: EmbeddedStack, settings: Settings) -> AsyncIterator[Served]:
    """Beside it a worker that has nothing to do but what the benchmark gives it."""
    async with running_worker(settings) as worker, running("api", ["serve"], settings) as api:
        parts = {
            **{"api": api.pid, "worker": worker.pid, "postgres": stack.postgres.pid},
            **{"vectors": stack.vectors.pid, "client": os.getpid()},
        }
        pool = await connect(settings.postgres_dsn.get_secret_value(), max_size=1)
        tokens = [await key(pool, number) for number in range(KEYS)]
        await pool.close()
        yield Served(ready_path("api", settings).read_text(), tuple(tokens), Cpu(parts), api.pid)


async def key(pool: Pool, number: int, namespaces: str = "bench/*") -> str:
    token, _ = await Keys(pool).create(f"bench-{number}", (Grant("write", namespaces),), datetime.now(UTC), "benchmark")
    return token
