"""Source logs shortened by retention or truncated below the committed offset."""

import asyncio
from collections.abc import Iterator

import pytest

from schemas.errors import Misconfigured
from tests.fakes.fetcher import RECORD, scripted
from tests.unit.delivery.scripted_world import MESSAGES, World


@pytest.fixture
async def world() -> Iterator[World]:
    with scripted():
        world = World(checkpoints=False, max_poll_records=500)
        world.worker.gates.open = True
        yield world
        await world.worker.die()


async def begin(world: World) -> None:
    await world.step("rebalance", 0)
    await asyncio.sleep(1.0)


async def read(world: World) -> list[tuple[int, int]]:
    """The extents that the agent gets of MESSAGES now."""
    extents = []
    for _ in range(4):
        await world.step("find positions", 0)
        world.fetch(500)
        await asyncio.sleep(1.5)
        extents += [(batch.first, batch.end) for batch in world.worker.queue if batch.partition == MESSAGES.partition]
        for batch in world.worker.queue:
            batch.ack()
        world.worker.queue.clear()
        world.worker.taken.set()
    await world.worker.consumer.force_commit()
    return extents


async def test_records_deleted_by_retention_are_skipped(world: World):
    log = world.cluster.logs[MESSAGES]
    log.kinds += [RECORD] * 10
    log.beginning = 8
    await begin(world)
    extents = await read(world)
    assert extents[-1][1] == log.end == 13
    assert world.cluster.start(MESSAGES) == 13
    assert not world.worker.draining.done()


async def test_a_log_that_ends_below_the_committed_offset_stops_the_worker_and_names_the_remedy(world: World):
    """New records reuse offsets of applied ones, so windows would take them for repetitions."""
    log = world.cluster.logs[MESSAGES]
    world.cluster.committed[tuple(MESSAGES)] = 100
    await begin(world)
    await read(world)
    with pytest.raises(
        Misconfigured, match=f"was read to offset 100 and ends at {log.end} now.*Reset the group's offsets"
    ):
        await world.worker.draining
