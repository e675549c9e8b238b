"""Checkpoints at the end of an epoch: settled, abandoned, or confirmed too late."""

import asyncio

from schemas.errors import Retryable
from tests.fakes.clock import settled
from tests.unit.delivery.checkpointing import running


async def test_no_checkpoint_is_sent_after_the_fence_is_shut():
    async with running(0) as stage:
        given = stage.apply(0, 0, {b"a": b"1"})
        stage.fence.shut()
        await asyncio.sleep(5)
        assert stage.broker.transactions == []
        assert not given.acked


async def test_a_commit_confirmed_after_the_epoch_acks_no_batch_and_does_not_advance_the_ledger():
    async with running(0) as stage:
        answered = asyncio.Event()
        stage.changelog.on("committed", answered)
        given = stage.apply(0, 0, {b"a": b"1"})
        await asyncio.sleep(0.6)
        stage.fence.shut()
        answered.set()
        await settled()
        assert not given.acked
        assert stage.checkpointer[0].complete_to == 0


async def test_settle_commits_all_applied_batches_and_returns():
    async with running(0, 1, interval_s=1_000.0) as stage:
        given = [stage.apply(0, 0, {b"a": b"1"}), stage.apply(1, 0, {b"b": b"1"})]
        stage.fence.close()
        await stage.checkpointer.settle()
        assert [batch.acked for batch in given] == [True, True]


async def test_settle_also_commits_batches_applied_during_a_running_checkpoint():
    async with running(0, interval_s=0.1) as stage:
        arrives = asyncio.Event()
        stage.changelog.on("commit", arrives)
        stage.apply(0, 0, {b"a": b"1"})
        await asyncio.sleep(0.15)
        late = stage.apply(0, 1, {b"a": b"2"})
        stage.fence.close()
        settling = asyncio.create_task(stage.checkpointer.settle())
        await settled()
        assert not settling.done()
        arrives.set()
        await settling
        assert late.acked


async def test_settle_returns_when_a_checkpoint_fails():
    async with running(0, interval_s=1_000.0) as stage:
        stage.changelog.on("commit", Retryable("broker away"))
        given = stage.apply(0, 0, {b"a": b"1"})
        stage.fence.close()
        await stage.checkpointer.settle()
        assert not given.acked
        assert not given.held


async def test_settle_returns_at_once_if_nothing_is_pending_or_the_fence_is_shut():
    async with running(0, interval_s=1_000.0) as stage:
        await stage.checkpointer.settle()
        stage.apply(0, 0, {b"a": b"1"})
        stage.fence.shut()
        await stage.checkpointer.settle()
        assert stage.broker.transactions == []


async def test_abandon_drops_uncommitted_rows_and_the_next_epoch_begins_with_the_committed_ones():
    async with running(0, 1) as stage:
        stage.apply(0, 0, {b"a": b"safe"})
        await asyncio.sleep(0.6)
        stage.changelog.on("commit", asyncio.Event())
        leaving = stage.apply(0, 1, {b"a": b"leaving"})
        await asyncio.sleep(0.6)
        pending = stage.apply(0, 2, {b"a": b"pending"})
        stage.fence.shut()
        await stage.checkpointer.abandon()
        assert dict(stage.checkpointer[0].scan()) == {b"a": b"safe"}
        await stage.begin(0, 1)
        again = stage.apply(0, 1, {b"a": b"again"})
        await asyncio.sleep(0.6)
        assert stage.broker.rows(0) == {b"a": b"again"}
        assert (leaving.acked, pending.acked, again.acked) == (False, False, True)


async def test_a_checkpoint_due_during_abandon_does_not_block_the_partition_in_the_next_epoch():
    """Holds for any turn of the loop in which the interval ends."""
    for turns in range(8):
        async with running(0, 1, interval_s=1_000.0) as stage:
            stage.changelog.on("commit", asyncio.Event(), partition=0)
            stage.apply(0, 0, {b"a": b"1"})
            stage.checkpointer.request()
            await asyncio.sleep(0.1)
            stage.apply(1, 0, {b"b": b"1"})  # dirty, and not on its way yet
            stage.fence.shut()
            abandoning = asyncio.create_task(stage.checkpointer.abandon())
            for _ in range(turns):
                await asyncio.sleep(0)
            stage.checkpointer._start_due()
            await abandoning
            await settled()
            await stage.begin(0, 1)
            again = [stage.apply(0, 0, {b"a": b"1"}), stage.apply(1, 0, {b"b": b"1"})]
            stage.checkpointer.request()
            await asyncio.sleep(1)
            assert [batch.acked for batch in again] == [True, True], f"after {turns} turns of the loop"
