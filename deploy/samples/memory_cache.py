"""A sample cache of memories in a chat service, kept up to date from `memory.state` alone.

It needs a Kafka client and the topic name, and no database. The topic is compacted: reading it from the beginning gives the
latest state of every memory.
"""

import argparse
import asyncio
import json
from collections.abc import AsyncIterator, Iterable
from datetime import UTC, datetime
from typing import Any

from aiokafka import AIOKafkaConsumer, ConsumerRecord

VERSION = "memstream-version"  # a header of tombstones


class MemoryCache:
    """All memories by id, of any status.

    After a crash memstream may repeat recent records in order. Records with a version that is not newer are skipped, so that
    a deleted memory does not reappear. The version of a tombstone is in a header.
    """

    def __init__(self) -> None:
        self.memories: dict[str, dict[str, Any]] = {}
        self._versions: dict[str, int] = {}  # also of deleted memories: a few bytes for each memory ever read

    def apply(self, memory_id: str, value: bytes | None, headers: Iterable[tuple[str, bytes]] = ()) -> bool:
        """Applies a record; returns False if it changed nothing. A tombstone (None) means that the memory is deleted or
        erased."""
        if value is None:
            return self._end(memory_id, dict(headers).get(VERSION))
        memory = json.loads(value)  # unknown fields are kept and ignored
        if memory["version"] <= self._versions.get(memory_id, 0):
            return False
        self._versions[memory_id] = memory["version"]
        self.memories[memory_id] = memory
        return True

    def _end(self, memory_id: str, version: bytes | None) -> bool:
        """Applies a tombstone. One without a version ends any known state, and later records apply again."""
        if version is not None and int(version) < self._versions.get(memory_id, 0):
            return False
        self._versions[memory_id] = int(version or 0)
        return self.memories.pop(memory_id, None) is not None

    def live(self, namespace: str, now: datetime) -> list[dict[str, Any]]:
        """The live memories of a namespace, most important first."""
        found = [memory for memory in self.memories.values() if memory["namespace"] == namespace]
        return sorted((each for each in found if status(each, now) == "active"), key=lambda each: -each["importance"])


def status(memory: dict[str, Any], now: datetime) -> str:
    """The status at `now`. Only `active` is live; other values are `superseded` (by `superseded_by`), `expired`, or unknown
    future values.

    A memory expires at its time, also before the event arrives: memstream checks every 30 s, and may be stopped.
    """
    expires_at = memory.get("expires_at")  # fields with default values are absent
    over = expires_at is not None and datetime.fromisoformat(expires_at) <= now
    return "expired" if over and memory["status"] == "active" else str(memory["status"])


async def states(bootstrap_servers: str, topic: str, until_end: bool = False) -> AsyncIterator[ConsumerRecord]:
    """Records of the topic from its beginning; without end, or up to the end of the topic when it was opened.

    There is no consumer group: every process reads all partitions, from the beginning after a restart, so that it misses no
    tombstone. Use the cache once the initial records are read.
    """
    consumer = AIOKafkaConsumer(topic, bootstrap_servers=bootstrap_servers, auto_offset_reset="earliest")
    async with consumer:
        ends = await consumer.end_offsets(consumer.assignment())
        while not until_end or any([await consumer.position(partition) < end for partition, end in ends.items()]):
            for records in (await consumer.getmany(timeout_ms=500)).values():
                for record in records:
                    yield record


async def main(bootstrap_servers: str, topic: str, until_end: bool) -> None:
    """Prints each change, or with `until_end` all current memories as JSON, one per line."""
    cache = MemoryCache()
    async for record in states(bootstrap_servers, topic, until_end):
        memory_id = record.key.decode()
        if cache.apply(memory_id, record.value, record.headers) and not until_end:
            memory = cache.memories.get(memory_id)
            print(describe(memory) if memory else f"gone: {memory_id}", flush=True)
    for memory in cache.memories.values():
        print(json.dumps(memory))


def describe(memory: dict[str, Any]) -> str:
    return f"{memory['namespace']}: {status(memory, datetime.now(UTC))} {memory['kind']}: {memory['text']}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("bootstrap_servers")
    parser.add_argument("--topic", default="memory.state", help="with the deployment's prefix, if it has one")
    parser.add_argument("--until-end", action="store_true", help="print all current memories as JSON Lines, and exit")
    options = parser.parse_args()
    asyncio.run(main(options.bootstrap_servers, options.topic, options.until_end))
