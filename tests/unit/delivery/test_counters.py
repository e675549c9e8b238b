"""Every delivery counter counts exactly its events."""

import asyncio

import pytest

from streams.delivery.counters import Counters
from streams.delivery.positions import Read
from tests.fakes.changelog import FakeChangelog
from tests.unit.delivery.bare_consumer import MESSAGES, OTHER, BareConsumer, read
from tests.unit.delivery.checkpointing import effect, running


@pytest.fixture
async def consumer() -> BareConsumer:
    consumer = BareConsumer()
    consumer._thread.offsets = {MESSAGES: 100, OTHER: 0}
    assert await consumer.begin({MESSAGES, OTHER}, set(), {})
    return consumer


def test_each_counter_is_tested_here():
    tested = " ".join(name for name in globals() if name.startswith("test_"))
    assert [name for name in Counters.__struct_fields__ if name not in tested] == []


async def test_epochs_counts_epochs_that_began(consumer):
    assert consumer.counters.epochs == 1
    consumer._thread.assigned = set()
    assert not await consumer.begin({MESSAGES}, set(), {})
    assert consumer.counters.epochs == 1
    consumer._thread.assigned = {MESSAGES}
    assert await consumer.begin({MESSAGES}, set(), {})
    assert consumer.counters.epochs == 2


async def test_batches_and_records_count_what_was_delivered(consumer):
    await consumer.drain(read(MESSAGES, 100, 103, 100, 101, 102), read(OTHER, 0, 1, 0), read(MESSAGES, 150, 151, 150))
    assert (consumer.counters.batches, consumer.counters.records) == (2, 4)


async def test_jumps_and_jumped_offsets_count_gaps_inside_reads(consumer):
    await consumer.drain(read(MESSAGES, 100, 110, 100, 105), read(MESSAGES, 110, 111, 110), read(MESSAGES, 111, 113))
    assert (consumer.counters.jumps, consumer.counters.jumped_offsets) == (2, 8 + 2)


async def test_rewinds_counts_non_contiguous_reads_of_assigned_partitions(consumer):
    await consumer.drain(read(MESSAGES, 150, 151, 150), read(MESSAGES, 100, 101, 100))
    assert consumer.counters.rewinds == 1
    consumer._thread.meanwhile = consumer.positions.clear
    await consumer.drain(read(MESSAGES, 101, 102, 101))
    assert consumer.counters.rewinds == 1


async def test_stale_batches_counts_delivered_batches_unfinished_at_the_end_of_their_epoch(consumer):
    await consumer.drain(*(read(MESSAGES, offset, offset + 1, offset) for offset in range(100, 105)))
    await consumer.drain(read(OTHER, 0, 1, 0), read(OTHER, 1, 2))
    for number in (0, 2, 4):  # finished, the last two of them behind a hole
        consumer.delivered[number].ack()
    await consumer.end_epoch(1.0)
    assert consumer.counters.stale_batches == 2 + 1
    await consumer.end_epoch(1.0)
    assert consumer.counters.stale_batches == 3


async def test_stale_batches_does_not_count_batches_that_finish_while_their_epoch_closes(consumer):
    await consumer.drain(read(MESSAGES, 100, 101, 100))

    async def settle() -> None:
        consumer.delivered[0].ack()

    consumer.app.settle = settle
    await consumer.end_epoch(1.0)
    assert consumer.counters.stale_batches == 0


async def test_frontier_lag_is_the_number_of_delivered_offsets_that_cannot_be_committed(consumer):
    assert consumer.frontier_lag == 0
    await consumer.drain(read(MESSAGES, 100, 103, 100, 101, 102), read(MESSAGES, 103, 107, 103), read(OTHER, 0, 1, 0))
    assert consumer.frontier_lag == 3 + 4 + 1
    consumer.delivered[1].ack()
    assert consumer.frontier_lag == 8, "what is finished behind a hole may not be committed"
    consumer.delivered[0].ack()
    assert consumer.frontier_lag == 1
    consumer.delivered[2].ack()
    assert consumer.frontier_lag == 0
    consumer.positions.take(MESSAGES, Read(107, 109, ["r"]))
    await consumer.end_epoch(1.0)
    assert consumer.frontier_lag == 0


async def test_checkpoints_checkpoint_rows_and_checkpoint_bytes_count_committed_checkpoints():
    async with running(0, interval_s=1.0) as stage:
        stage.apply(0, 0, {b"a": b"12", b"gone": None}, effect("four"))
        stage.apply(0, 1, {b"a": b"123"})
        await asyncio.sleep(1.5)
        counters = stage.checkpointer.counters
        assert (counters.checkpoints, counters.checkpoint_rows) == (1, 2)
        assert counters.checkpoint_bytes == len(b"a" + b"123" + b"gone" + b"four")
        stage.changelog.on("commit", ValueError("a bug"))
        stage.apply(0, 2, {b"a": b"1"})
        await asyncio.sleep(1.5)
        assert (counters.checkpoints, counters.checkpoint_rows) == (1, 2)


async def test_checkpoint_s_sums_checkpoint_durations_and_longest_checkpoint_s_is_the_longest():
    async with running(0, interval_s=1.0) as stage:
        for offset, seconds in enumerate((0.25, 2.0, 0.5)):
            answer = asyncio.Event()
            stage.changelog.on("committed", answer)
            stage.apply(0, offset, {b"a": b"1"})
            stage.checkpointer._start_due()
            asyncio.get_running_loop().call_later(seconds, answer.set)
            await asyncio.sleep(3.0)
        counters = stage.checkpointer.counters
        assert counters.checkpoint_s == pytest.approx(2.75)
        assert counters.longest_checkpoint_s == pytest.approx(2.0)


async def test_fenced_counts_checkpoints_rejected_because_another_worker_owns_the_partition():
    async with running(0, 1) as stage:
        await FakeChangelog(stage.broker).open([0])
        stage.apply(0, 0, {b"a": b"1"})
        await asyncio.sleep(5.0)
        assert stage.checkpointer.counters.fenced == 1
        assert stage.checkpointer.counters.checkpoints == 0
