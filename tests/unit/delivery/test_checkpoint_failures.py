"""Failed, rejected or uncertain checkpoints shut the fence, ack nothing and are reported."""

import asyncio

import pytest

from schemas.errors import Retryable
from streams.delivery.changelog import Fenced
from streams.delivery.fence import Phase
from tests.fakes.changelog import FakeChangelog
from tests.fakes.clock import settled
from tests.unit.delivery.checkpointing import TOPIC, effect, running


@pytest.mark.parametrize("point", ["commit", "committed"], ids=["nothing arrived", "the answer was lost"])
async def test_a_checkpoint_in_doubt_shuts_the_fence_acks_no_batch_and_reports_the_failure(point):
    async with running(0) as stage:
        doubt = Retryable("broker away")
        stage.changelog.on(point, doubt)
        given = stage.apply(0, 0, {b"a": b"1"})
        await asyncio.sleep(0.6)
        assert stage.fence.phase is Phase.SHUT
        assert stage.failures == [doubt]
        assert not given.acked
        await asyncio.sleep(60)
        assert stage.changelog.calls.count(("commit", 0)) == 1, (
            "it may have arrived, or somebody else may own it by now"
        )


async def test_checkpoints_in_doubt_in_several_partitions_report_one_failure():
    """Twice at a time, each would close the producers of the other's recovery."""
    async with running(0, 1, 2) as stage:
        stage.changelog.on("commit", *(Retryable("broker away") for _ in range(3)))
        for partition in range(3):
            stage.apply(partition, 0, {b"a": b"1"})
        await asyncio.sleep(5)
        assert len(stage.failures) == 1


async def test_a_checkpoint_that_fails_after_its_epoch_reports_no_failure():
    async with running(0) as stage:
        answer = asyncio.Event()
        stage.changelog.on("commit", answer)
        stage.changelog.on("committed", Retryable("answer lost"))
        stage.apply(0, 0, {b"a": b"1"})
        await asyncio.sleep(0.6)
        stage.fence.shut()  # revoked: whoever did this goes on from here
        answer.set()
        await settled()
        assert stage.failures == []


@pytest.mark.parametrize("point", ["commit", "committed"], ids=["nothing arrived", "the answer was lost"])
async def test_an_epoch_restarted_after_a_checkpoint_in_doubt_restores_what_the_broker_committed(point):
    async with running(0) as stage:
        stage.apply(0, 0, {b"a": b"before"})
        await asyncio.sleep(0.6)
        stage.changelog.on(point, Retryable("broker away"))
        stage.apply(0, 1, {b"a": b"in doubt"}, effect("in doubt"))
        await asyncio.sleep(0.6)
        await stage.end()
        await stage.begin(0)
        arrived = point == "committed"
        assert dict(stage.checkpointer[0].scan()) == {b"a": b"in doubt" if arrived else b"before"}
        assert stage.broker.committed == {(TOPIC, 0): 2 if arrived else 1}
        assert stage.broker.effects == ([effect("in doubt")] if arrived else [])
        again = stage.apply(0, 2, {b"a": b"after"})
        await asyncio.sleep(0.6)
        assert again.acked


async def test_a_fenced_old_owner_shuts_its_fence_and_acks_no_batch():
    async with running(0) as stage:
        successor = FakeChangelog(stage.broker)
        await successor.open([0])
        given = stage.apply(0, 0, {b"a": b"1"})
        await asyncio.sleep(0.6)
        assert stage.fence.phase is Phase.SHUT
        assert not given.acked
        assert not given.current
        assert stage.broker.transactions == []
        assert stage.checkpointer.counters.fenced == 1
        assert stage.failures == []


async def test_a_fenced_checkpoint_of_an_ended_epoch_does_not_shut_the_next_epoch():
    async with running(0) as stage:
        gone = asyncio.Event()
        stage.changelog.on("commit", gone)
        stage.changelog.on("commit", Fenced("too late"))
        stage.apply(0, 0, {b"a": b"1"})
        await asyncio.sleep(0.6)
        stage.fence.shut()
        stage.fence.open()
        stage.broker.owners[0] = object()
        gone.set()
        await settled()
        assert stage.fence.phase is Phase.OPEN


async def test_an_unexpected_error_shuts_the_fence_acks_no_batch_and_is_reported():
    async with running(0) as stage:
        stage.changelog.on("commit", ValueError("a bug"))
        given = stage.apply(0, 0, {b"a": b"1"})
        await asyncio.sleep(0.6)
        assert stage.fence.phase is Phase.SHUT
        assert [str(error) for error in stage.failures] == ["a bug"]
        assert not given.acked
