"""A chat service's own cache of what is remembered, kept right from `memory.state` alone.

It needs a Kafka client and the name of one topic, nothing else, and no database: the topic is compacted, so whoever reads
it from the beginning has the latest state of every memory, and whoever reads on keeps it.
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
    """Every memory of any status, by its id.

    After a crash some records come again, in their order and up to the latest. A version that is not newer than what is known is
    passed over, so that nothing that is gone is held again even for a moment: a tombstone has its version in a header.
    """

    def __init__(self) -> None:
        self.memories: dict[str, dict[str, Any]] = {}
        self._versions: dict[str, int] = {}  # of what is gone as well: a few bytes for each that was ever read

    def apply(self, memory_id: str, value: bytes | None, headers: Iterable[tuple[str, bytes]] = ()) -> bool:
        """Takes a record in; False if it changed nothing. A tombstone (None) says that the memory is deleted or erased."""
        if value is None:
            return self._end(memory_id, dict(headers).get(VERSION))
        memory = json.loads(value)  # fields that are not known yet are kept and passed over
        if memory["version"] <= self._versions.get(memory_id, 0):
            return False
        self._versions[memory_id] = memory["version"]
        self.memories[memory_id] = memory
        return True

    def _end(self, memory_id: str, version: bytes | None) -> bool:
        """Of a tombstone without a version nobody knows what it is older than: it ends what is held, and all may come again."""
        if version is not None and int(version) < self._versions.get(memory_id, 0):
            return False
        self._versions[memory_id] = int(version or 0)
        return self.memories.pop(memory_id, None) is not None

    def live(self, namespace: str, now: datetime) -> list[dict[str, Any]]:
        """What holds in a namespace, the most important first."""
        found = [memory for memory in self.memories.values() if memory["namespace"] == namespace]
        return sorted((each for each in found if status(each, now) == "active"), key=lambda each: -each["importance"])


def status(memory: dict[str, Any], now: datetime) -> str:
    """`active` is live; whatever else it says is not: `superseded` (by the memory `superseded_by`), `expired`, or a word to come.

    A memory expires at its time, told or not: memstream looks every half minute, and may be stopped.
    """
    expires_at = memory.get("expires_at")  # fields at their defaults are left out
    over = expires_at is not None and datetime.fromisoformat(expires_at) <= now
    return "expired" if over and memory["status"] == "active" else str(memory["status"])


async def states(bootstrap_servers: str, topic: str, until_end: bool = False) -> AsyncIterator[ConsumerRecord]:
    """Records of the topic from its beginning, for ever, or up to where it ended when it was opened.

    Without a consumer group: every process that has a cache reads all partitions, and anew after a restart, so that no
    tombstone is missed. Begin answering from the cache when what was there at the start has been read.
    """
    consumer = AIOKafkaConsumer(topic, bootstrap_servers=bootstrap_servers, auto_offset_reset="earliest")
    async with consumer:
        ends = await consumer.end_offsets(consumer.assignment())
        while not until_end or any([await consumer.position(partition) < end for partition, end in ends.items()]):
            for records in (await consumer.getmany(timeout_ms=500)).values():
                for record in records:
                    yield record


async def main(bootstrap_servers: str, topic: str, until_end: bool) -> None:
    """Prints each change as it comes in, or, `until_end`, everything that is there as JSON, one memory a line."""
    cache = MemoryCache()
    async for record in states(bootstrap_servers, topic, until_end):
        memory_id = record.key.decode()
        if cache.apply(memory_id, record.value, record.headers) and not until_end:
            memory = cache.memories.get(memory_id)
            print(told(memory) if memory else f"gone: {memory_id}", flush=True)
    for memory in cache.memories.values():
        print(json.dumps(memory))


def told(memory: dict[str, Any]) -> str:
    return f"{memory['namespace']}: {status(memory, datetime.now(UTC))} {memory['kind']}: {memory['text']}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("bootstrap_servers")
    parser.add_argument("--topic", default="memory.state", help="with the deployment's prefix, if it has one")
    parser.add_argument("--until-end", action="store_true", help="print what is there as JSON Lines, and end")
    options = parser.parse_args()
    asyncio.run(main(options.bootstrap_servers, options.topic, options.until_end))
