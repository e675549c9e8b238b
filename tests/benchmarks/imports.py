"""`make bench-import`: memories a second through `POST /v1/import` until all are stored, indexed and published,
compared with the embedder alone.

tests/benchmarks/README.md says what is measured. The last line on stdout is one JSON object.
"""

import argparse
import asyncio
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from agents.passages.chunking import embedded_text
from deploy.embedded.stack import EmbeddedStack
from deploy.wiring import connections
from schemas import codec
from schemas.conversations.messages import Message
from schemas.kafka import topics
from schemas.kafka.records import Outgoing, Publisher
from sinks.embeddings.batching import embed_in_batches
from sinks.embeddings.models import PASSAGE_DEFAULT
from sinks.embeddings.onnx import OnnxEmbedder
from sinks.postgres.connection import Pool, connect
from tests.benchmarks.curate_store import sentences
from tests.benchmarks.machine import machine
from tests.benchmarks.serve_load import client
from tests.benchmarks.serve_store import Served, prepared, served
from tests.embedders import packaged_embedder

SHORT_CHARS = 80
LONG_CHARS = 2_000
MESSAGE_CHARS = 200
SHORT, LONG, MESSAGES = 3_000, 150, 3_000
AT = datetime(2026, 3, 1, tzinfo=UTC)
LOOK_S = 0.2
WITHIN_S = 3_600.0


async def run(sizes: dict[int, int], messages: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="bench-import-") as made, closing(packaged_embedder()) as embedder:
        cache = Path(os.environ.get("MEMSTREAM_CACHE_DIR", Path.home() / ".cache" / "memstream"))
        async with EmbeddedStack(Path(made), cache) as stack:
            settings = await prepared(stack, Path(made), "bench-import")
            pool = await connect(settings.postgres_dsn.get_secret_value(), max_size=1)
            async with served(stack, settings) as server:
                await imported(server, pool, "bench/warm", list(texts(SHORT_CHARS, 200, 1)))
                runs = [await of_length(server, pool, embedder, chars, number) for chars, number in sizes.items()]
                with closing(packaged_embedder(PASSAGE_DEFAULT.name)) as reader:
                    async with connections.kafka(settings) as publisher:
                        said = await said_in(server, pool, reader, publisher, messages)
            await pool.close()
    return {"machine": machine(), "load": os.getloadavg(), "runs": runs, "said": said}


async def of_length(server: Served, pool: Pool, embedder: OnnxEmbedder, chars: int, number: int) -> dict[str, Any]:
    said = list(texts(chars, number, chars))
    began = time.perf_counter()
    await embed_in_batches(embedder, said)
    alone = number / (time.perf_counter() - began)
    server.cpu.begin()
    took_s = await imported(server, pool, f"bench/{chars}", said)
    cpu = cpu_ms(server, number)
    again_s = await imported(server, pool, f"bench/{chars}", said)
    figures = {
        "chars": chars,
        "memories": number,
        "memories_per_s": round(number / took_s, 1),
        "embedder_alone_per_s": round(alone, 1),
        "share_of_the_embedder": round(number / took_s / alone, 2),
        "repeated_per_s": round(number / again_s, 1),
        **cpu,
    }
    sys.stderr.write(f"{figures}\n")
    return figures


async def said_in(
    server: Served, pool: Pool, embedder: OnnxEmbedder, publisher: Publisher, number: int
) -> dict[str, Any]:
    """From the first message on its topic until each has its passage; conversations of fifty messages, one after the other."""
    said = list(texts(MESSAGE_CHARS, number, MESSAGE_CHARS))
    began = time.perf_counter()
    await embed_in_batches(embedder, [embedded_text("ada", text) for text in said])
    alone = number / (time.perf_counter() - began)
    server.cpu.begin()
    began = time.perf_counter()
    await publisher.publish([message(at, text) for at, text in enumerate(said)])
    async with asyncio.timeout(WITHIN_S):
        while await pool.fetchval("SELECT count(*) FROM passages") < number:  # noqa: ASYNC110
            await asyncio.sleep(LOOK_S)
    took_s = time.perf_counter() - began
    figures = {
        "chars": MESSAGE_CHARS,
        "messages": number,
        "passages_per_s": round(number / took_s, 1),
        "embedder_alone_per_s": round(alone, 1),
        "share_of_the_embedder": round(number / took_s / alone, 2),
        **cpu_ms(server, number),
    }
    sys.stderr.write(f"{figures}\n")
    return figures


def message(at: int, text: str) -> Outgoing:
    said = Message(
        conversation_id=f"said-{at // 50}",
        message_id=f"said-{at}",
        role="user",
        timestamp=AT + timedelta(seconds=at),
        content=text,
        app_id="bench",
        user_id="ada",
    )
    return Outgoing(topic=topics.MESSAGES, key=said.conversation_id.encode(), value=codec.encode(said))


def cpu_ms(server: Served, number: int) -> dict[str, float]:
    return {f"{name}_cpu_ms": round(spent / number * 1e3, 2) for name, spent in server.cpu.seconds().items()}


async def imported(server: Served, pool: Pool, namespace: str, said: Sequence[str]) -> float:
    """Seconds from the request until the curator has carried out every line and the outbox is empty."""
    before = await applied(pool, namespace)
    body = "".join(json.dumps({"text": text}) + "\n" for text in said)
    began = time.perf_counter()
    async with client(server.address, server.tokens[0], timeout_s=WITHIN_S) as api:
        answer = await api.post_lines("/v1/import", body, namespace=namespace)
        if answer.status != 202:
            raise AssertionError(f"{answer.status} {answer.content!r}")
    async with asyncio.timeout(WITHIN_S):
        await until_outcomes(pool, namespace, before + len(said))
    return time.perf_counter() - began


async def until_outcomes(pool: Pool, namespace: str, outcomes: int) -> None:
    while True:
        waiting = await pool.fetchval("SELECT EXISTS (SELECT FROM outbox)")
        if not waiting and await applied(pool, namespace) >= outcomes:
            return
        await asyncio.sleep(LOOK_S)


async def applied(pool: Pool, namespace: str) -> int:
    return int(await pool.fetchval("SELECT count(*) FROM commands WHERE namespace = $1", namespace))


def texts(chars: int, number: int, seed: int) -> Iterator[str]:
    """Statements put together to a length, each another."""
    every = sentences(seed)
    for _ in range(number):
        said = next(every)
        while len(said) < chars:
            said += f". {next(every)}"
        yield said[:chars]


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.imports", description=__doc__)
    parser.add_argument("--short", type=int, default=SHORT, help=f"memories of {SHORT_CHARS} characters")
    parser.add_argument("--long", type=int, default=LONG, help=f"memories of {LONG_CHARS:,} characters")
    parser.add_argument("--messages", type=int, default=MESSAGES, help=f"of {MESSAGE_CHARS} characters, made passages")
    options = parser.parse_args(argv)
    report = asyncio.run(run({SHORT_CHARS: options.short, LONG_CHARS: options.long}, options.messages))
    sys.stdout.write(json.dumps(report) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
