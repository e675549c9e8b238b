"""`make bench-stages`: resident memory of a worker of each stage, of a worker of all stages and of the API, idle and
under load.

tests/benchmarks/README.md says what is measured. The last line on stdout is one JSON object.
"""

import argparse
import asyncio
import json
import os
import random
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import islice
from pathlib import Path
from typing import Any, Final

import psutil

from deploy.embedded.process import GuardedProcess
from deploy.embedded.stack import EmbeddedStack
from deploy.runtime.dev import ready_path, running
from deploy.settings import Settings
from deploy.wiring import connections
from schemas.kafka import topics
from sinks.postgres.connection import Pool, connect
from streams.kafka.topics import STAGES
from tests.benchmarks.chats import interleaved
from tests.benchmarks.machine import machine
from tests.benchmarks.measure import ENVIRONMENT
from tests.benchmarks.serve_load import at_rate, client
from tests.benchmarks.serve_store import key, prepared

RECORDS: Final = 4_000  # messages, and the ends of their conversations
LENGTHS: Final = (10, 20)  # messages of a conversation
OPEN_AT_ONCE: Final = 100
PER_S, SECONDS = 5, 20.0  # searches
IDLE_S: Final = 10.0
LOOK_S: Final = 0.5
QUIET_S: Final = 10.0
WITHIN_S: Final = 3_600.0
ALL: Final = "all stages"

Processes = Mapping[str, GuardedProcess]


async def run(records: int) -> dict[str, Any]:
    os.environ.update(ENVIRONMENT)
    cache = Path(os.environ.get("MEMSTREAM_CACHE_DIR", Path.home() / ".cache" / "memstream"))
    with tempfile.TemporaryDirectory(prefix="bench-stages-") as made:
        async with EmbeddedStack(Path(made), cache) as stack:
            apart = await of_processes(stack, Path(made), "apart", list(STAGES), records)
            together = await of_processes(stack, Path(made), "together", [ALL], records)
    return {"machine": machine(), "load": os.getloadavg(), "records": records, "mb": together | apart}


async def of_processes(
    stack: EmbeddedStack, directory: Path, name: str, workers: Sequence[str], records: int
) -> dict[str, dict[str, int]]:
    """Returns the memory of each process: MB at rest, and the maximum during records and searches."""
    settings = await prepared(stack, directory, f"bench-{name}")
    pool = await connect(settings.postgres_dsn.get_secret_value(), max_size=1)
    try:
        async with started(settings, workers) as processes:
            await asyncio.sleep(IDLE_S)
            idle = sizes(processes)
            most = await under_load(settings, pool, processes, records)
    finally:
        await pool.close()
    found = {each: {"idle": idle[each], "under_load": most[each]} for each in processes}
    for each, figures in found.items():
        sys.stderr.write(f"{each}: {figures}\n")
    return found


@asynccontextmanager
async def started(settings: Settings, workers: Sequence[str]) -> AsyncIterator[Processes]:
    """A worker each, and the API."""
    async with AsyncExitStack() as running_until:
        processes = {}
        for each in workers:
            arguments = ["worker"] if each == ALL else ["worker", "--stage", each]
            processes[each] = await running_until.enter_async_context(running(each, arguments, settings))
        processes["api"] = await running_until.enter_async_context(running("api", ["serve"], settings))
        yield processes


def sizes(processes: Processes) -> dict[str, int]:
    return {name: round(psutil.Process(each.pid).memory_info().rss / 1e6) for name, each in processes.items()}


async def under_load(settings: Settings, pool: Pool, processes: Processes, records: int) -> dict[str, int]:
    """The most of each, from the first record until everything is extracted and indexed, and questions were asked of it."""
    most = sizes(processes)

    async def watch() -> None:
        while True:
            for name, size in sizes(processes).items():
                most[name] = max(most[name], size)
            await asyncio.sleep(LOOK_S)

    async with asyncio.TaskGroup() as tasks:
        watching = tasks.create_task(watch())
        said = list(islice(interleaved(random.Random(11), LENGTHS, OPEN_AT_ONCE, with_ends=True), records))
        async with connections.kafka(settings) as publisher:
            await publisher.publish(said)
        await until_done(pool, sum(each.topic == topics.MESSAGES for each in said))
        await ask(settings, pool)
        watching.cancel()
    return most


async def until_done(pool: Pool, messages: int) -> None:
    """Each message is archived and has passages, and nothing new was remembered for a while."""
    seen, since = -1, 0.0
    async with asyncio.timeout(WITHIN_S):
        while True:
            (row,) = await pool.fetch(
                "SELECT (SELECT count(*) FROM messages) AS archived, (SELECT count(*) FROM memories) AS memories, "
                "(SELECT count(DISTINCT (conversation_id, message_id)) FROM passages) AS indexed"
            )
            since = since + LOOK_S if row["memories"] == seen else 0.0
            seen = row["memories"]
            if row["archived"] == row["indexed"] == messages and since >= QUIET_S:
                return
            await asyncio.sleep(LOOK_S)


async def ask(settings: Settings, pool: Pool) -> None:
    token = await key(pool, 0, "*")
    users = [row["namespace"] for row in await pool.fetch("SELECT DISTINCT namespace FROM passages LIMIT 50")]
    async with client(ready_path("api", settings).read_text(), token) as asking:
        answered = await at_rate(
            lambda number: asking.post(
                "/v1/search",
                {"namespaces": [users[number % len(users)]], "text": f"what about meeting number {number}?"},
            ),
            PER_S,
            SECONDS,
        )
    if answered.failures:
        raise AssertionError(f"searches failed: {dict(answered.failures)}")


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.stages", description=__doc__)
    parser.add_argument("--records", type=int, default=RECORDS, help="messages and ends of conversations")
    sys.stdout.write(json.dumps(asyncio.run(run(parser.parse_args(argv).records))) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
