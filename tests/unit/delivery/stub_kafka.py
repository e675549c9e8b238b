"""aiokafka's producer, consumer and admin client as the changelog uses them, and the broker behind them.

`on("commit", ...)` says what happens at the next calls of a kind: an exception is raised there, HANG never answers.
"""

import asyncio
from collections import defaultdict, deque
from types import SimpleNamespace
from typing import Any

import pytest
from aiokafka.errors import ProducerFenced

from schemas.kafka.records import Outgoing
from streams.delivery import changelog as under_test
from streams.delivery.changelog import KafkaChangelog
from streams.delivery.fence import Fence
from streams.delivery.ledger import Checkpoint
from tests.fakes.batches import batch_of

HANG = object()
MARKER = None  # in a log: an offset that is never delivered
TOPIC = "changelog"
BATCH_RECORDS = 2


class Coordinator:
    """Epochs by transactional.id, what was committed, the changelog's partitions, and what goes wrong.

    While it is `silent`, readers are answered in time and given nothing.
    """

    def __init__(self) -> None:
        self.epochs: dict[str, int] = {}
        self.committed: list[dict[str, Any]] = []
        self.logs: dict[int, list[tuple[bytes, bytes | None] | None]] = defaultdict(list)
        self.beginnings: dict[int, int] = defaultdict(int)
        self.clients: list[Any] = []
        self.dropped = 0
        self.silent = False
        self.reached: list[str] = []
        self._script: dict[str, deque[Any]] = defaultdict(deque)

    def on(self, point: str, *happenings: Any) -> None:
        self._script[point].extend(happenings)

    def happens(self, point: str) -> Any:
        """Returns the outcome planned for this call, to await or to raise."""
        self.reached.append(point)
        return self._script[point].popleft() if self._script[point] else None

    def pass_through(self, point: str) -> None:
        if (happening := self.happens(point)) is not None:
            raise happening

    async def reach_point(self, point: str) -> None:
        happening = self.happens(point)
        await asyncio.sleep(0)
        if happening is HANG:
            await asyncio.get_running_loop().create_future()
        elif isinstance(happening, asyncio.Event):
            await happening.wait()
        elif happening is not None:
            raise happening

    async def drop(self) -> None:
        """Records that the producer's resources were released although it did not stop."""
        self.dropped += 1

    @property
    def open_clients(self) -> list[Any]:
        return [client for client in self.clients if not client.stopped]


class StubClient:
    coordinator: Coordinator

    def __init__(self, **settings: Any) -> None:
        self.settings, self.stopped = settings, False
        self.coordinator.clients.append(self)


class StubProducer(StubClient):
    """A transactional producer that keeps its transaction to itself and is fenced as the broker does it."""

    epoch = 0

    _sender = _message_accumulator = object()

    @property
    def client(self) -> Any:
        return SimpleNamespace(close=self.coordinator.drop, _conns={})

    async def start(self) -> None:
        await self.coordinator.reach_point("start")
        name = self.settings["transactional_id"]
        self.epoch = self.coordinator.epochs[name] = self.coordinator.epochs.get(name, 0) + 1

    async def stop(self) -> None:
        self.stopped = True
        await self.coordinator.reach_point("stop")

    async def begin_transaction(self) -> None:
        await self.coordinator.reach_point("begin")
        self.sent: dict[str, Any] = {"records": [], "offsets": {}, "by": self}

    def create_batch(self) -> Any:
        self.coordinator.pass_through("create")
        return StubBatch(self.coordinator)

    def _arrives(self, topic: str, offset: int) -> Any:
        """Returns a future of the first record's offset, for a batch as for a single record."""
        future = asyncio.get_running_loop().create_future()
        happening = self.coordinator.happens("arrived")
        if happening is None:
            future.set_result(SimpleNamespace(topic=topic, offset=offset))
        elif happening is not HANG:
            future.set_exception(happening)
        return future

    async def send_batch(self, batch: Any, topic: str, *, partition: int) -> Any:
        await self.coordinator.reach_point("send_batch")
        first = 100 + len(self.sent["records"])
        self.sent["records"] += [(topic, partition, key, value) for key, value in batch.records]
        return self._arrives(topic, first)

    async def send(self, topic: str, *, key: Any, value: Any, partition: Any, headers: Any) -> Any:
        await self.coordinator.reach_point("send")
        self.sent["records"].append((topic, partition, key, value))
        return self._arrives(topic, 99 + len(self.sent["records"]))

    async def send_offsets_to_transaction(self, offsets: Any, group: str) -> None:
        await self.coordinator.reach_point("offsets")
        self.sent["offsets"] = {(tp.topic, tp.partition, group): end for tp, end in offsets.items()}

    async def commit_transaction(self) -> None:
        await self.coordinator.reach_point("commit")
        if self.epoch != self.coordinator.epochs[self.settings["transactional_id"]]:
            raise ProducerFenced()
        assert not self.stopped, "a producer that was closed cannot commit"
        self.coordinator.committed.append(self.sent)


class StubBatch:
    def __init__(self, coordinator: Coordinator) -> None:
        self.coordinator, self.records = coordinator, []

    def append(self, *, key: bytes, value: bytes | None, timestamp: int | None) -> int | None:
        self.coordinator.pass_through("append")
        if len(self.records) == BATCH_RECORDS:
            return None
        self.records.append((key, value))
        return 1

    def close(self) -> None:
        pass

    def record_count(self) -> int:
        return len(self.records)


class StubReader(StubClient):
    """A consumer that is handed `PER_FETCH` offsets at a time and steps over markers."""

    PER_FETCH = 3

    async def start(self) -> None:
        await self.coordinator.reach_point("start reader")

    async def stop(self) -> None:
        await self.coordinator.reach_point("stop reader")
        self.stopped = True

    @property
    def _client(self) -> Any:
        """The client that a failed stop leaves open."""
        return SimpleNamespace(close=self._closed)

    async def _closed(self) -> None:
        self.stopped = True

    def assign(self, tps: list[Any]) -> None:
        self.positions = dict.fromkeys(tps, -1)

    def seek(self, tp: Any, offset: int) -> None:
        self.positions[tp] = offset

    async def end_offsets(self, tps: list[Any]) -> dict[Any, int]:
        await self.coordinator.reach_point("ends")
        return {tp: len(self.coordinator.logs[tp.partition]) for tp in tps}

    async def beginning_offsets(self, tps: list[Any]) -> dict[Any, int]:
        await self.coordinator.reach_point("beginnings")
        return {tp: self.coordinator.beginnings[tp.partition] for tp in tps}

    async def getmany(self, *tps: Any, timeout_ms: int) -> dict[Any, list[Any]]:
        await self.coordinator.reach_point("getmany")
        if self.coordinator.silent:
            await asyncio.sleep(timeout_ms / 1000)
            return {}
        fetched = {}
        for tp in tps:
            start, log = self.positions[tp], self.coordinator.logs[tp.partition]
            self.positions[tp] = min(start + self.PER_FETCH, len(log))
            rows = [entry for entry in log[start : self.positions[tp]] if entry is not MARKER]
            if rows:
                fetched[tp] = [SimpleNamespace(key=key, value=value) for key, value in rows]
        return fetched

    async def position(self, tp: Any) -> int:
        await self.coordinator.reach_point("position")
        return self.positions[tp]


class StubAdmin(StubClient):
    async def start(self) -> None:
        await self.coordinator.reach_point("start admin")

    async def close(self) -> None:
        self.stopped = True

    async def describe_cluster(self) -> dict[str, Any]:
        await self.coordinator.reach_point("describe")
        return {"cluster_id": "cluster-1"}


def installed(monkeypatch: pytest.MonkeyPatch) -> Coordinator:
    """A broker that every changelog made from now on is on."""
    coordinator = Coordinator()
    for name, stub in (
        ("AIOKafkaProducer", StubProducer),
        ("AIOKafkaConsumer", StubReader),
        ("AIOKafkaAdminClient", StubAdmin),
    ):
        monkeypatch.setattr(under_test, name, type(name, (stub,), {"coordinator": coordinator}))
    return coordinator


def changelog(**options: Any) -> KafkaChangelog:
    return KafkaChangelog({}, "group", TOPIC, lambda name: f"test.{name}", **options)


def checkpoint(value: bytes = b"1") -> Checkpoint:
    """Four rows in two record batches, one effect, one offset."""
    fence = Fence()
    fence.open()
    effect = Outgoing(topic="requests", key=b"k", value=b"effect", partition=4)
    rows = {b"chunk-1": value, b"chunk-2": value, b"head": value, b"gone": None}
    return Checkpoint(rows, (effect,), (batch_of(fence, "messages", 6, [b"x"], partition=2),))
