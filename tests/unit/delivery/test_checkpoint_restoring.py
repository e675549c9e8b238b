"""Restoring assigned partitions from the changelog."""

import asyncio

import pytest

from schemas.errors import Retryable
from tests.fakes.changelog import Broker
from tests.unit.delivery.checkpointing import running


async def test_restore_updates_rows_and_reads_only_new_changelog_records():
    broker = Broker()
    async with running(0, broker=broker) as stage:
        stage.apply(0, 0, {b"a": b"1", b"gone": b"1"})
        await asyncio.sleep(0.6)
        stage.fence.shut()
        await stage.checkpointer.abandon()
        broker.log[0] += [(b"a", b"2"), (b"gone", None)]
        await stage.begin(0)
        assert stage.changelog.read_from == [(0, 0), (0, 2)]
        assert dict(stage.checkpointer[0].scan()) == {b"a": b"2"}
        assert stage.checkpointer[0].complete_to == 4


async def test_a_partition_that_was_not_assigned_in_between_is_restored_from_the_beginning():
    broker = Broker()
    async with running(0, 1, broker=broker) as stage:
        stage.apply(0, 0, {b"a": b"1"})
        await asyncio.sleep(0.6)
        stage.fence.shut()
        await stage.checkpointer.abandon()
        await stage.begin(1)
        assert stage.checkpointer.partitions == [1]
        with pytest.raises(KeyError):
            stage.checkpointer[0]
        broker.log[0] = [(b"b", b"compacted")]
        stage.fence.shut()
        await stage.checkpointer.abandon()
        await stage.begin(0, 1)
        assert dict(stage.checkpointer[0].scan()) == {b"b": b"compacted"}


@pytest.mark.parametrize("point", ["open", "read"])
async def test_restore_retried_after_a_failure_gives_the_same_rows(point):
    broker = Broker()
    broker.log[0] += [(b"a", b"1"), (b"a", None), (b"b", b"2")]
    broker.log[1] += [(b"c", b"3")]
    async with running(broker=broker) as stage:
        stage.changelog.on(point, None, Retryable("broker away"))
        with pytest.raises(Retryable):
            await stage.checkpointer.restore([0, 1])
        await stage.checkpointer.restore([0, 1])
        assert dict(stage.checkpointer[0].scan()) == {b"b": b"2"}
        assert dict(stage.checkpointer[1].scan()) == {b"c": b"3"}


async def test_restore_opens_partitions_before_it_reads_them():
    async with running(0, 1) as stage:
        points = [point for point, _ in stage.changelog.calls if point in ("open", "read")]
        assert points == ["open", "open", "read", "read"]
