"""The consumer's thread with aiokafka's own fetcher and subscription, and a broker that answers from record batches."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

from aiokafka.consumer.fetcher import READ_COMMITTED, Fetcher, OffsetResetStrategy
from aiokafka.consumer.subscription_state import SubscriptionState
from aiokafka.errors import OffsetOutOfRangeError
from aiokafka.protocol.fetch import FetchRequest
from faust.types import TP

from streams.delivery.consumer_thread import FencedConsumerThread
from streams.delivery.positions import Read

Logs = dict[TP, dict[int, bytes]]

LONG_POLL_S = 0.5


class StubLeader:
    """aiokafka's client and the only broker. `logs` are record batches by their ends, `aborted` (producer, first offset).

    `leader`, `code` (an error code) and `refusal` (an exception) simulate failures; `version` is that of its responses.
    """

    _metadata_max_age_ms = 300_000

    def __init__(self, logs: Logs) -> None:
        self._loop = asyncio.get_running_loop()
        self.logs = logs
        self.beginnings = dict.fromkeys(logs, 0)
        self.aborted: dict[TP, list[tuple[int, int]]] = {}
        self.version = 11
        self.updates = 0
        self.leader: int | None = 0
        self.code = 0
        self.refusal: Exception | None = None
        self.cluster = SimpleNamespace(leader_for_partition=lambda _: self.leader)

    async def _maybe_wait_metadata(self) -> None:
        """Metadata is always available."""

    def add_topic(self, topic: str) -> None:
        """All topics are known."""

    def force_metadata_update(self) -> asyncio.Future[None]:
        self.updates += 1
        updated = self._loop.create_future()
        self._loop.call_later(0.01, updated.set_result, None)
        return updated

    async def send(self, node_id: int, request: Any) -> Any:
        if self.refusal is not None:
            raise self.refusal
        code = self.code
        await asyncio.sleep(0.001)
        if not isinstance(request, FetchRequest):
            return self._offsets(request, code)
        assert request._isolation_level == READ_COMMITTED
        wanted = [(TP(topic, number), offset) for topic, parts in request.topics for number, offset, _ in parts]
        answers = [(tp.topic, [self._part(tp, offset, code)]) for tp, offset in wanted]
        if not any(part[1] or part[-1] for _, (part,) in answers):
            await asyncio.sleep(LONG_POLL_S)
        return SimpleNamespace(API_VERSION=self.version, topics=answers)

    def _part(self, tp: TP, offset: int, code: int) -> tuple[Any, ...]:
        if offset < self.beginnings[tp]:
            code = OffsetOutOfRangeError.errno
        data = b"" if code else b"".join(data for end, data in self.logs[tp].items() if end > offset)
        since_5, since_11 = (-1,) * (self.version >= 5), (-1,) * (self.version >= 11)
        return tp.partition, code, -1, -1, *since_5, self.aborted.get(tp, []), *since_11, data

    def _offsets(self, request: Any, code: int) -> Any:
        assert request._isolation_level == READ_COMMITTED
        topics = [
            (topic, [(number, code, -1, self._offset(TP(topic, number), at)) for number, at in parts])
            for topic, parts in request._topics
        ]
        return SimpleNamespace(API_VERSION=1, topics=topics)

    def _offset(self, tp: TP, at: int) -> int:
        return max(self.logs[tp]) if at == OffsetResetStrategy.LATEST else self.beginnings[tp]


class StubConsumer:
    """The parts of AIOKafkaConsumer that the thread uses."""

    _closed = False

    def __init__(self, client: StubLeader, max_poll_records: int) -> None:
        self._client, self._max_poll_records = client, max_poll_records
        self._subscription = SubscriptionState()
        self._subscription.subscribe({tp.topic for tp in client.logs})
        self.assign(set(client.logs))
        self._fetcher = Fetcher(
            client, self._subscription, isolation_level="read_committed", auto_offset_reset="earliest"
        )

    def assign(self, tps: set[TP]) -> None:
        self._subscription.assign_from_subscribed(tps)

    def assignment(self) -> Any:
        return self._subscription.assigned_partitions()

    def pause(self, *tps: TP) -> None:
        for tp in tps:
            self._subscription.pause(tp)

    def seek(self, tp: TP, offset: int) -> None:
        self._fetcher.seek_to(tp, offset)


class BareThread(FencedConsumerThread):
    """The thread's code on the test's own loop. `reads` are the fetched records by partition."""

    def __init__(self, logs: Logs, max_poll_records: int = 500) -> None:
        self.broker = StubLeader(logs)
        self.kafka = StubConsumer(self.broker, max_poll_records)
        self.consumer = SimpleNamespace(flow_active=True)
        self.reads: dict[TP, list[Read]] = {tp: [] for tp in logs}
        self._left_at: dict[Any, int] = {}

    def _ensure_consumer(self) -> StubConsumer:
        return self.kafka

    async def call_thread(self, fun: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        return await fun(*args)

    async def drain(self) -> None:
        for tp, read in (await self.read(set(self.broker.logs), 1.0)).items():
            self.reads[tp].append(read)

    async def drain_to(self, ends: dict[TP, int]) -> None:
        async with asyncio.timeout(60):
            while any(self._left_at[tp] < end for tp, end in ends.items()):
                await self.drain()

    def drained(self, tp: TP, start: int = 0) -> list[Any]:
        """The records of consecutive reads; fails if there is a gap."""
        for read in self.reads[tp]:
            assert read.start == start < read.end, f"{read} follows {start}"
            assert all(read.start <= record.offset < read.end for record in read.records)
            start = read.end
        return [record for read in self.reads[tp] for record in read.records]

    async def end(self) -> None:
        with suppress(asyncio.CancelledError):
            await self.kafka._fetcher.close()
