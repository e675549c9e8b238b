"""Checkpoints on a fake changelog, in virtual time: content, timing and acks."""

import asyncio

from tests.fakes.clock import settled
from tests.unit.delivery.checkpointing import TOPIC, effect, running


async def test_a_checkpoint_carries_rows_effects_and_offsets_and_then_acks():
    async with running(0) as stage:
        given = stage.apply(0, 4, {b"a": b"1"}, effect("one"))
        assert not given.acked
        await asyncio.sleep(0.6)
        assert given.acked
        assert stage.broker.rows(0) == {b"a": b"1"}
        assert stage.broker.effects == [effect("one")]
        assert stage.broker.committed == {(TOPIC, 0): 5}
        assert dict(stage.checkpointer[0].scan()) == {b"a": b"1"}
        assert stage.checkpointer[0].complete_to == 1
        counters = stage.checkpointer.counters
        assert (counters.checkpoints, counters.checkpoint_rows, counters.checkpoint_bytes) == (1, 1, 2 + len(b"one"))
        assert counters.checkpoint_s == counters.longest_checkpoint_s


async def test_a_batch_is_not_acked_before_the_broker_confirms_the_commit():
    async with running(0) as stage:
        answered = asyncio.Event()
        stage.changelog.on("committed", answered)
        given = stage.apply(0, 0, {b"a": b"1"})
        await asyncio.sleep(60)
        assert stage.broker.rows(0) == {b"a": b"1"}
        assert not given.acked
        assert stage.checkpointer[0].complete_to == 0
        answered.set()
        await settled()
        assert given.acked


async def test_a_partition_has_one_checkpoint_at_a_time_and_later_batches_share_the_next_one():
    async with running(0) as stage:
        arrived = asyncio.Event()
        stage.changelog.on("commit", arrived)
        stage.apply(0, 0, {b"a": b"1"})
        await asyncio.sleep(0.6)
        for offset in (1, 2):
            stage.apply(0, offset, {b"a": str(offset).encode()})
            await asyncio.sleep(5)
        assert stage.changelog.calls.count(("commit", 0)) == 1
        arrived.set()
        await asyncio.sleep(1)
        assert [len(sent.batches) for _, sent in stage.broker.transactions] == [1, 2]
        assert stage.broker.rows(0) == {b"a": b"2"}


async def test_two_simultaneous_triggers_start_one_checkpoint():
    async with running(0, interval_s=1_000.0) as stage:
        given = stage.apply(0, 0, {b"a": b"1"})
        stage.checkpointer._start_due()  # the interval
        stage.fence.close()
        await stage.checkpointer.settle()  # a revocation
        assert given.acked
        assert stage.failures == []


async def test_a_slow_partition_does_not_hold_up_another():
    async with running(0, 1) as stage:
        stage.changelog.on("commit", asyncio.Event(), partition=0)
        slow, quick = stage.apply(0, 0, {b"a": b"1"}), stage.apply(1, 0, {b"b": b"1"})
        await asyncio.sleep(0.6)
        assert quick.acked
        assert not slow.acked
        again = stage.apply(1, 1, {b"b": b"2"})
        await asyncio.sleep(0.6)
        assert again.acked


async def test_request_triggers_the_next_checkpoint_early():
    async with running(0, interval_s=100.0) as stage:
        given = stage.apply(0, 0, {b"a": b"1"})
        stage.checkpointer.request()
        await asyncio.sleep(0.1)
        assert given.acked


async def test_a_partition_without_changes_has_no_checkpoints():
    async with running(0) as stage:
        await asyncio.sleep(10)
        assert stage.broker.transactions == []
