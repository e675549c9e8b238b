"""The consumer's thread and aiokafka's fetcher read each record once, whatever its headers and the broker's errors."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from aiokafka.errors import CorruptRecordException, KafkaConnectionError, NotLeaderForPartitionError
from aiokafka.record.default_records import DefaultRecordBase, _DefaultRecordBatchPy
from aiokafka.record.memory_records import _MemoryRecordsPy
from faust.types import TP
from hypothesis import given
from hypothesis import strategies as st

from streams.delivery.consumer_thread import RETRY_S
from streams.kafka import lenient_parser
from tests.fakes.clock import VirtualLoop
from tests.fakes.leader import BareThread, Logs
from tests.fakes.record_batches import abort_marker, assert_numbered, numbered_batch

MESSAGES, OTHER = TP("chat.messages", 0), TP("chat.messages", 1)
TRANSACTIONAL = DefaultRecordBase.TRANSACTIONAL_MASK
LOGS = {
    MESSAGES: {2: numbered_batch(0, 2), 8: numbered_batch(2, 8, {4}), 9: numbered_batch(8, 9)},
    OTHER: {3: numbered_batch(0, 3)},
}
ENDS = {MESSAGES: 9, OTHER: 3}

Begin = Callable[..., Awaitable[BareThread]]


@pytest.fixture
async def begin() -> AsyncIterator[Begin]:
    """`await begin(logs)`: a thread that is to read them from their beginnings."""
    begun: list[BareThread] = []

    async def begin(logs: Logs = LOGS, **options: Any) -> BareThread:
        begun.append(BareThread(logs, **options))
        assert await begun[-1].place(dict.fromkeys(logs, 0))
        return begun[-1]

    yield begin
    for thread in begun:
        await thread.end()


class SecondFetches:
    """The fetches that the thread makes by itself, counted; each of `troubles` is around one of them."""

    def __init__(self) -> None:
        self.count = 0
        self.troubles: list[Any] = []
        self._fetch = lenient_parser.fetch

    async def __call__(self, *args: Any) -> Any:
        self.count += 1
        if not self.troubles:
            return await self._fetch(*args)
        with self.troubles.pop(0):
            return await self._fetch(*args)


@pytest.fixture
def second_fetches(monkeypatch) -> SecondFetches:
    counted = SecondFetches()
    monkeypatch.setattr(lenient_parser, "fetch", counted)
    return counted


@contextmanager
def trouble(thread: BareThread, **states: Any) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in states.items():
            patch.setattr(thread.broker, name, value)
        yield


@contextmanager
def meanwhile(happens: Callable[[], Any]) -> Iterator[None]:
    asyncio.get_running_loop().call_soon(happens)
    yield


def assert_all_read(thread: BareThread) -> None:
    assert_numbered(thread.drained(MESSAGES), range(9), {4})
    assert_numbered(thread.drained(OTHER), range(3), ())


@pytest.mark.parametrize("max_poll_records", [500, 4, 1])
async def test_good_and_bad_records_of_a_batch_are_all_delivered_in_order(begin, max_poll_records):
    thread = await begin(max_poll_records=max_poll_records)
    await thread.drain_to(ENDS)
    assert_all_read(thread)
    assert max(len(read.records) for reads in thread.reads.values() for read in reads) <= max_poll_records


@pytest.mark.parametrize("version", [4, 5, 11])
async def test_aborted_transactions_are_skipped_even_if_header_names_are_not_utf8(begin, version):
    aborted = numbered_batch(0, 3, {1}, flags=TRANSACTIONAL, producer_id=7)
    committed = numbered_batch(4, 6, {5}, flags=TRANSACTIONAL, producer_id=8)
    thread = await begin({MESSAGES: {3: aborted, 4: abort_marker(3, 7), 6: committed}})
    thread.broker.aborted, thread.broker.version = {MESSAGES: [(7, 0)]}, version
    await thread.drain_to({MESSAGES: 6})
    assert_numbered(thread.drained(MESSAGES), [4, 5], {5})


async def test_bad_header_names_are_also_handled_by_aiokafka_without_c_extensions(begin, monkeypatch):
    monkeypatch.setattr("aiokafka.consumer.fetcher.MemoryRecords", _MemoryRecordsPy)
    monkeypatch.setattr("aiokafka.record.memory_records.DefaultRecordBatch", _DefaultRecordBatchPy)
    monkeypatch.setattr(lenient_parser, "DefaultRecordBatch", _DefaultRecordBatchPy)
    thread = await begin()
    await thread.drain_to(ENDS)
    assert_all_read(thread)


async def test_batches_after_the_bad_one_are_read_by_the_regular_fetcher(begin, second_fetches):
    thread = await begin({MESSAGES: {3: numbered_batch(0, 3, {1})}})
    await thread.drain_to({MESSAGES: 3})
    thread.broker.logs[MESSAGES][6] = numbered_batch(3, 6)
    await thread.drain_to({MESSAGES: 6})
    assert second_fetches.count == 1
    assert_numbered(thread.drained(MESSAGES), range(6), {1})


async def test_two_partitions_with_bad_records_are_both_read(begin):
    logs = {tp: {end: numbered_batch(end - 3, end, {end - 2}) for end in range(3, 31, 3)} for tp in (MESSAGES, OTHER)}
    thread = await begin(logs, max_poll_records=7)
    await thread.drain_to({MESSAGES: 30, OTHER: 30})
    for tp in logs:
        assert_numbered(thread.drained(tp), range(30), range(1, 30, 3))


async def test_a_partition_with_many_bad_records_does_not_starve_another(begin):
    endless = {end: numbered_batch(end - 2, end, {end - 1}) for end in range(2, 801, 2)}
    thread = await begin({MESSAGES: endless, OTHER: LOGS[OTHER]}, max_poll_records=2)
    await thread.drain_to({OTHER: 3})
    assert thread._left_at[MESSAGES] < 400


@pytest.mark.parametrize(
    "states",
    [
        {"leader": -1},
        {"leader": None},
        {"code": NotLeaderForPartitionError.errno},
        {"code": CorruptRecordException.errno},
        {"refusal": KafkaConnectionError("gone")},
    ],
    ids=str,
)
async def test_a_failed_second_fetch_is_retried_with_a_pause_and_a_metadata_update(begin, second_fetches, states):
    thread = await begin()
    second_fetches.troubles = [trouble(thread, **states) for _ in range(5)]
    began = asyncio.get_running_loop().time()
    await thread.drain_to(ENDS)
    assert asyncio.get_running_loop().time() - began >= 5 * RETRY_S
    assert thread.broker.updates >= 5
    assert second_fetches.count == 6
    assert_all_read(thread)


@pytest.mark.parametrize("place", [0, 5, 8])
async def test_records_fetched_before_a_seek_are_not_delivered(begin, second_fetches, place):
    thread = await begin()

    def seek() -> None:
        thread.reads[MESSAGES].clear()
        thread.kafka.seek(MESSAGES, place)
        thread._left_at[MESSAGES] = place

    second_fetches.troubles = [meanwhile(seek)]
    await thread.drain_to(ENDS)
    assert_numbered(thread.drained(MESSAGES, place), range(place, 9), {4})


async def test_records_fetched_from_a_revoked_partition_are_not_delivered(begin, second_fetches):
    thread = await begin()

    def take_away() -> None:
        thread.kafka.assign({OTHER})
        thread.kafka.seek(OTHER, thread._left_at[OTHER])

    second_fetches.troubles = [meanwhile(take_away)]
    await thread.drain_to({OTHER: 3})
    assert second_fetches.count == 1
    assert thread.reads[MESSAGES] == []
    assert_numbered(thread.drained(OTHER), range(3), ())


async def test_a_bad_record_is_read_at_a_log_beginning_moved_by_retention(begin):
    thread = await begin()
    thread.broker.beginnings[MESSAGES] = 3
    await thread.drain_to(ENDS)
    assert_numbered(thread.drained(MESSAGES), range(3, 9), {4})


async def test_a_batch_with_a_bad_checksum_raises_and_the_position_does_not_advance(begin):
    damaged = bytearray(LOGS[MESSAGES][8])
    damaged[-1] ^= 1
    thread = await begin({MESSAGES: LOGS[MESSAGES] | {8: bytes(damaged)}})
    with pytest.raises(CorruptRecordException):
        await thread.drain_to({MESSAGES: 9})
    assert lenient_parser.position(thread.kafka, MESSAGES) == thread._left_at[MESSAGES] == 0


sizes_and_bad = st.lists(st.tuples(st.integers(1, 6), st.sets(st.integers(0, 5), max_size=2)), max_size=8)


def log_of(batches: list[tuple[int, set[int]]]) -> tuple[dict[int, bytes], set[int], int]:
    """The log, the offsets of bad records, its end."""
    log, bad, base = {}, set(), 0
    for size, at in batches:
        now = {base + each for each in at if each < size}
        log[base + size] = numbered_batch(base, base + size, now)
        bad, base = bad | now, base + size
    return log, bad, base


@given(both=st.tuples(sizes_and_bad, sizes_and_bad), max_poll_records=st.integers(1, 10))
def test_all_records_are_read_once_and_in_order_wherever_bad_ones_lie(both, max_poll_records):
    made = dict(zip((MESSAGES, OTHER), map(log_of, both), strict=True))

    async def play() -> None:
        thread = BareThread({tp: log for tp, (log, _, _) in made.items()}, max_poll_records)
        await thread.place(dict.fromkeys(made, 0))
        await thread.drain_to({tp: end for tp, (_, _, end) in made.items()})
        for tp, (_, bad, end) in made.items():
            assert_numbered(thread.drained(tp), range(end), bad)
        await thread.end()

    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        runner.run(play())
