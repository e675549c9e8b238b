"""A store failure during a checkpoint loses nothing, since the broker has the data; the worker is stopped."""

import asyncio

import pytest

from schemas.errors import Misconfigured
from streams.delivery.fence import Phase
from streams.delivery.ledger import TRUSTED_S
from streams.delivery.store import Mark, MemoryStore, Rows
from tests.fakes.changelog import Broker
from tests.fakes.clock import START_S, Clock, settled
from tests.unit.delivery.checkpointing import TOPIC, Stage, running


class FullDisk(MemoryStore):
    """Refuses writes while `full`; `opened` counts how often a process began with it."""

    full = False

    def write(self, rows: Rows, mark: Mark) -> None:
        if self.full:
            raise Misconfigured("the store failed: is the disk full or damaged?")
        super().write(rows, mark)


async def test_a_store_failure_after_the_broker_commit_acks_no_batch_and_stops_the_worker():
    store = FullDisk()
    async with running(0, stores=lambda _: store) as stage:
        store.full = True
        given = stage.apply(0, 0, {b"a": b"1"})
        later = stage.apply(0, 1, {b"b": b"1"})
        await asyncio.sleep(60.0)
        assert stage.broker.rows(0) == {b"a": b"1", b"b": b"1"}, "the broker has it all the same"
        assert (given.acked, later.acked) == (False, False)
        assert stage.fence.phase is Phase.SHUT
        assert [type(error) for error in stage.failures] == [Misconfigured]
        assert store.mark.offset == 0
        assert stage.checkpointer.counters.checkpoints == 0


async def test_the_next_process_restores_from_the_changelog_what_the_store_failed_to_write():
    broker, store = Broker(), FullDisk()
    async with running(0, stores=lambda _: store, broker=broker) as stage:
        stage.apply(0, 0, {b"a": b"1"})
        await asyncio.sleep(0.6)
        store.full = True
        stage.apply(0, 1, {b"a": b"2", b"b": b"2"})
        await asyncio.sleep(0.6)
    store.full = False
    async with running(0, stores=lambda _: store, broker=broker) as successor:
        assert successor.changelog.read_from == [(0, 1)]
        assert dict(successor.checkpointer[0].scan()) == {b"a": b"2", b"b": b"2"} == broker.rows(0)
        assert broker.committed == {(TOPIC, 0): 2}
        again = successor.apply(0, 2, {b"a": b"3"})
        await asyncio.sleep(0.6)
        assert again.acked


async def test_a_store_failure_in_one_partition_ends_the_epoch_of_all_partitions():
    stores = {0: FullDisk(), 1: FullDisk()}
    async with running(0, 1, stores=stores.__getitem__) as stage:
        stores[0].full = True
        stage.apply(0, 0, {b"a": b"1"})
        other = stage.apply(1, 0, {b"b": b"1"})
        await asyncio.sleep(0.6)
        late = stage.apply(1, 1, {b"b": b"2"})
        await asyncio.sleep(60.0)
        assert not other.held
        assert not late.acked
        assert stage.broker.rows(1).get(b"b") != b"2"


async def test_a_store_failure_during_restore_is_raised_and_no_epoch_begins():
    broker = Broker()
    broker.log[0] += [(b"a", b"1")]
    store = FullDisk()
    store.full = True
    stage = Stage(broker=broker, stores=lambda _: store)
    with pytest.raises(Misconfigured):
        await stage.begin(0)
    assert stage.fence.phase is Phase.SHUT
    await stage.stop()


async def test_a_store_failure_while_the_epoch_closes_is_still_reported():
    """Nobody may go on with a disk that takes nothing; only what the broker said is forgotten."""
    store, answer = FullDisk(), asyncio.Event()
    async with running(0, stores=lambda _: store) as stage:
        stage.changelog.on("committed", answer)
        stage.apply(0, 0, {b"a": b"1"})
        await asyncio.sleep(0.6)
        store.full = True
        stage.fence.close()
        answer.set()
        await stage.checkpointer.settle()
        assert [type(error) for error in stage.failures] == [Misconfigured]


async def left_behind(broker: Broker, clock: Clock, store: MemoryStore) -> None:
    """A worker with two rows stops; another one deletes the first of them."""
    async with running(0, stores=lambda _: store, broker=broker, now=clock) as stage:
        stage.apply(0, 0, {b"a": b"1", b"b": b"1"})
        await asyncio.sleep(0.6)
    assert store.mark == Mark(broker.name, 2, START_S)
    async with running(0, broker=broker, now=clock) as other:
        other.apply(0, 1, {b"a": None})
        await asyncio.sleep(0.6)


async def test_a_store_out_of_use_for_too_long_is_rebuilt_without_rows_deleted_meanwhile():
    broker, clock, store = Broker(), Clock(), MemoryStore()
    await left_behind(broker, clock, store)
    broker.compact(0, tombstones=True)
    clock.advance(TRUSTED_S + 1.0)
    async with running(0, stores=lambda _: store, broker=broker, now=clock) as stage:
        assert stage.changelog.read_from == [(0, 0)]
        assert dict(stage.checkpointer[0].scan()) == {b"b": b"1"} == broker.rows(0)


async def test_a_store_within_its_trusted_time_reads_only_new_changelog_records():
    broker, clock, store = Broker(), Clock(), MemoryStore()
    await left_behind(broker, clock, store)
    broker.compact(0)
    clock.advance(TRUSTED_S - 1.0)
    async with running(0, stores=lambda _: store, broker=broker, now=clock) as stage:
        assert stage.changelog.read_from == [(0, 2)]
        assert dict(stage.checkpointer[0].scan()) == {b"b": b"1"} == broker.rows(0)
        assert store.mark.current_at == clock.now_s


async def test_a_store_is_dated_by_the_start_of_a_commit_not_by_its_late_answer():
    """A process may be stopped while it waits; deletions by others go on meanwhile."""
    clock, store, answer = Clock(), MemoryStore(), asyncio.Event()
    async with running(0, stores=lambda _: store, now=clock) as stage:
        stage.changelog.on("committed", answer)
        clock.advance(5.0)
        stage.apply(0, 0, {b"a": b"1"})
        await asyncio.sleep(0.6)
        clock.advance(TRUSTED_S)
        answer.set()
        await settled()
        assert store.mark == Mark(stage.broker.name, 1, START_S + 5.0)


async def test_a_store_is_dated_by_the_start_of_a_long_recovery():
    broker, clock, store, read = Broker(), Clock(), MemoryStore(), asyncio.Event()
    broker.log[0] += [(b"a", b"1"), (b"b", b"1")]
    stage = Stage(broker=broker, stores=lambda _: store, now=clock)
    stage.changelog.on("read", None, read)
    beginning = asyncio.create_task(stage.begin(0))
    await settled()
    clock.advance(TRUSTED_S)
    read.set()
    await beginning
    assert store.mark == Mark(broker.name, 2, START_S)
    await stage.stop()
