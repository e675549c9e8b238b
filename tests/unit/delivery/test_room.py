"""Back-pressure by bytes bounds the applied work that is not yet committed."""

import asyncio

import pytest

from tests.fakes.clock import settled
from tests.unit.delivery.checkpointing import effect, running


async def test_wait_for_room_blocks_above_the_pending_bytes_bound_and_requests_a_checkpoint():
    async with running(0, interval_s=1_000.0, max_pending_bytes=10) as stage:
        stage.apply(0, 0, {b"a": b"x" * 9})
        await asyncio.wait_for(stage.checkpointer.wait_for_room(0), 0.001)  # 10 bytes fit
        stage.apply(0, 1, {b"b": b"x" * 9})
        begun = asyncio.get_running_loop().time()
        await stage.checkpointer.wait_for_room(0)
        assert asyncio.get_running_loop().time() - begun < 1
        assert stage.broker.rows(0).keys() == {b"a", b"b"}


async def test_wait_for_room_in_one_partition_does_not_depend_on_a_stuck_other_partition():
    async with running(0, 1, max_pending_bytes=10) as stage:
        stage.changelog.on("commit", asyncio.Event(), partition=0)
        stage.apply(0, 0, {b"a": b"x" * 99})
        await asyncio.wait_for(stage.checkpointer.wait_for_room(1), 0.001)


@pytest.mark.parametrize(("others", "waits"), [(8, False), (12, True)], ids=["there is room", "there is none"])
async def test_a_partition_above_its_share_waits_only_if_all_partitions_together_exceed_the_bound(
    others: int, waits: bool
):
    async with running(0, 1, interval_s=1_000.0, max_pending_bytes=20) as stage:
        stage.changelog.on("commit", asyncio.Event(), partition=0)
        stage.apply(0, 0, {b"a": b"x" * (others - 1)})
        stage.apply(1, 0, {b"b": b"x" * 10})
        await stage.checkpointer.wait_for_room(1)
        assert (stage.checkpointer[1].pending_bytes == 0) is waits, "it waits for its own, which arrives"
        assert stage.checkpointer[0].pending_bytes == others


async def test_every_waiter_for_room_is_released():
    async with running(0, interval_s=1_000.0, max_pending_bytes=10) as stage:
        stage.apply(0, 0, {b"a": b"x" * 99})
        await asyncio.gather(*(stage.checkpointer.wait_for_room(0) for _ in range(3)))


async def test_abandon_releases_waiters_for_room():
    async with running(0, interval_s=1_000.0, max_pending_bytes=10) as stage:
        stage.changelog.on("commit", asyncio.Event())
        stage.apply(0, 0, {b"a": b"x" * 99})
        stage.checkpointer.request()
        await asyncio.sleep(1)
        stage.apply(0, 1, {b"a": b"x" * 99})
        waiting = asyncio.create_task(stage.checkpointer.wait_for_room(0))
        await settled()
        assert not waiting.done()
        stage.fence.shut()
        await stage.checkpointer.abandon()
        await asyncio.wait_for(waiting, 0.1)


MEGABYTE = 1_000_000


@pytest.mark.parametrize("stuck", [False, True], ids=["it all waits", "some of it is on its way"])
async def test_pending_bytes_never_exceed_the_bound_plus_one_batch(stuck):
    """Bytes in flight count as well as waiting ones: a stuck checkpoint frees nothing."""
    bound = 16 * MEGABYTE
    async with running(0, interval_s=1_000.0, max_pending_bytes=bound) as stage:
        stage.changelog.on("commit", asyncio.Event() if stuck else None)
        ledger = stage.checkpointer[0]

        async def read_on() -> None:
            for offset in range(100):
                await stage.checkpointer.wait_for_room(0)
                stage.apply(0, offset, {b"%d" % offset: b"x" * MEGABYTE}, effect("x" * MEGABYTE))
                assert ledger.pending_bytes <= bound + 2 * MEGABYTE + 2
                if offset == 3:
                    stage.checkpointer.request()
                await asyncio.sleep(0.1)

        reading = asyncio.create_task(read_on())
        await asyncio.sleep(1_000.0)
        assert reading.done() is not stuck
        if stuck:
            assert ledger.busy
            assert bound < ledger.pending_bytes <= bound + 2 * MEGABYTE + 2
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)
        if not stuck:
            reading.result()


async def test_a_batch_larger_than_the_bound_is_accepted_when_there_is_room():
    async with running(0, interval_s=0.5, max_pending_bytes=10) as stage:
        await stage.checkpointer.wait_for_room(0)
        given = stage.apply(0, 0, {b"a": b"x" * 1_000})
        await stage.checkpointer.wait_for_room(0)
        assert given.acked
        assert stage.checkpointer[0].pending_bytes == 0


async def test_a_waiter_for_room_in_a_revoked_partition_is_released():
    async with running(0, 1, interval_s=1_000.0, max_pending_bytes=10) as stage:
        stage.changelog.on("commit", asyncio.Event(), partition=0)
        stage.apply(0, 0, {b"a": b"x" * 99})
        waiting = asyncio.create_task(stage.checkpointer.wait_for_room(0))
        await asyncio.sleep(1.0)
        assert not waiting.done()
        await stage.end()
        await stage.begin(1)
        await asyncio.wait_for(waiting, 0.1)
