"""aiokafka's consumer under a schedule, with a scripted broker in place of the network.

aiokafka's own code decides about fetched, sought and discarded records; the schedule decides what arrives, and when.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any, NamedTuple
from unittest.mock import patch
from zlib import crc32

from aiokafka.consumer import fetcher
from aiokafka.consumer.fetcher import Fetcher, FetchResult, OffsetResetStrategy
from aiokafka.consumer.subscription_state import Assignment, SubscriptionState
from faust.types import TP

from streams.kafka import lenient_parser
from tests.fakes.batches import record
from tests.fakes.changelog import Gates

RECORD, UNPARSABLE = "record", "unparsable"
MARKER, ABORTED, COMPACTED = "marker", "aborted", "compacted"
VISIBLE = {RECORD, UNPARSABLE}


class Topic(str):
    """Has the same hash in every process, so that iteration over sets of partitions is reproducible."""

    __slots__ = ()

    def __hash__(self) -> int:
        return crc32(self.encode())


class SourceLog:
    """One partition of a source topic: the content of each offset. `beginning` moves when retention deletes records."""

    def __init__(self, *kinds: str, beginning: int = 0) -> None:
        self.kinds = list(kinds)
        self.beginning = beginning

    @property
    def end(self) -> int:
        return len(self.kinds)

    def visible(self, start: int, end: int) -> list[int]:
        return [offset for offset in range(max(start, self.beginning), end) if self.kinds[offset] in VISIBLE]


class ScriptedRecords:
    """Replaces aiokafka's PartitionRecords: the response to one fetch, parsed as it is read. Legible ones parse completely."""

    def __init__(self, tp: TP, start: int, kinds: list[str], *, legible: bool = False) -> None:
        self.next_fetch_offset = start
        self._legible = legible
        self._records = self._parsed(tp, start, kinds)

    def __iter__(self) -> "ScriptedRecords":
        return self

    def __next__(self) -> Any:
        return next(self._records)

    def _parsed(self, tp: TP, start: int, kinds: list[str]) -> Any:
        for offset, kind in enumerate(kinds, start):
            if kind == UNPARSABLE and not self._legible:
                b"\xff".decode()
            self.next_fetch_offset = offset + 1
            if kind in VISIBLE:
                yield record(tp.topic, offset, str(offset).encode(), partition=tp.partition)


class Waiters(list[Any]):
    """A set in insertion order, for aiokafka."""

    add = list.append


class InFlight(NamedTuple):
    assignment: Assignment
    tp: TP
    start: int


class ScriptedFetcher(Fetcher):
    """aiokafka's fetcher without its background task: the schedule sends requests and responses. `served` are the answered
    offset ranges."""

    def __init__(self, subscriptions: SubscriptionState, logs: dict[TP, SourceLog]) -> None:
        self._subscriptions = subscriptions
        self._logs = logs
        self._loop = asyncio.get_running_loop()
        self._records = OrderedDict()
        self._fetch_waiters = Waiters()
        self._wait_consume_future = None
        self._closed = False
        self._known: Assignment | None = None
        self.in_flight: list[InFlight] = []
        self.served: list[tuple[TP, int, int]] = []

    def request(self) -> None:
        """Sends the request that aiokafka would send now: for partitions with a position that are not paused and have no
        fetched records."""
        assignment = self._subscriptions.subscription.assignment
        if assignment is not self._known:
            self._known = assignment
            self._records.clear()
        for tp in sorted(assignment.tps) if assignment is not None else ():
            state, requests = assignment.state_value(tp), [(other.assignment, other.tp) for other in self.in_flight]
            if (
                state.has_valid_position
                and not state.paused
                and tp not in self._records
                and (assignment, tp) not in requests
            ):
                self.in_flight.append(InFlight(assignment, tp, state.position))

    def answer(self, which: int = 0, count: int = 500) -> None:
        """Delivers the broker's response to one of the requests: at most `count` offsets, or none after its longest wait."""
        if not self.in_flight:
            return
        fetch = self.in_flight.pop(which % len(self.in_flight))
        state, log = fetch.assignment.state_value(fetch.tp), self._logs[fetch.tp]
        if not fetch.assignment.active or not state.has_valid_position or state.position != fetch.start:
            return
        if not log.beginning <= fetch.start <= log.end:
            state.await_reset(OffsetResetStrategy.EARLIEST)
            return
        if not (kinds := log.kinds[fetch.start : fetch.start + count]):
            return
        self.served.append((fetch.tp, fetch.start, fetch.start + len(kinds)))
        answer = ScriptedRecords(fetch.tp, fetch.start, kinds)
        self._records[fetch.tp] = FetchResult(
            fetch.tp, assignment=fetch.assignment, partition_records=answer, backoff=0.0
        )
        for waiter in list(self._fetch_waiters):
            self._notify(waiter)

    def find_positions(self, committed: Callable[[TP], int | None]) -> None:
        """aiokafka's start position of partitions without a seek: the committed offset, or the beginning."""
        assignment = self._subscriptions.subscription.assignment
        for tp in assignment.tps if assignment is not None else ():
            state = assignment.state_value(tp)
            if not state.has_valid_position:
                known = None if state.awaiting_reset else committed(tp)
                state.await_reset(OffsetResetStrategy.EARLIEST)
                state.reset_to(self._logs[tp].beginning if known is None else known)


class ScriptedKafka:
    """The parts of AIOKafkaConsumer that the consumer's thread uses. `offsets` are the group's committed ones."""

    _closed = False

    def __init__(
        self, logs: dict[TP, SourceLog], offsets: dict[Any, int], gates: Gates, max_poll_records: int = 500
    ) -> None:
        self.gates = gates
        self._subscription = SubscriptionState()
        self._subscription.subscribe({tp.topic for tp in logs})
        self._fetcher = ScriptedFetcher(self._subscription, logs)
        self._client = SimpleNamespace(force_metadata_update=lambda: None)
        self._max_poll_records = max_poll_records
        self._offsets = offsets

    def assignment(self) -> Any:
        return self._subscription.assigned_partitions()

    def assign(self, tps: Iterable[TP]) -> None:
        self._subscription.assign_from_subscribed(set(tps))

    def pause(self, *tps: TP) -> None:
        for tp in tps:
            self._subscription.pause(tp)

    def seek(self, tp: TP, offset: int) -> None:
        self._fetcher.seek_to(tp, offset)

    async def committed(self, tp: TP) -> int | None:
        return self._offsets.get(tp)


async def fetch_legibly(kafka: ScriptedKafka, tp: TP, offset: int) -> ScriptedRecords:
    """Replaces streams.kafka.lenient_parser.fetch: refetches what aiokafka could not parse from the scripted broker."""
    await kafka.gates.reach_point("legible")
    kinds = kafka._fetcher._logs[tp].kinds[offset : offset + 4]
    return ScriptedRecords(tp, offset, kinds, legible=True)


@contextmanager
def scripted() -> Iterator[None]:
    """Within the block, the fetcher uses the loop's time, and refetches come from the scripted broker."""
    clock = SimpleNamespace(monotonic=lambda: asyncio.get_running_loop().time())
    with patch.object(fetcher, "time", clock), patch.object(lenient_parser, "fetch", fetch_legibly):
        yield
