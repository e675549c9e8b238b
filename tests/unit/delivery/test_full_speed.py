"""Offset gaps cost nothing: each offset is fetched once, without seeks, and no lag remains."""

import asyncio
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streams.delivery.counters import Counters
from tests.fakes.clock import VirtualLoop
from tests.fakes.fetcher import ABORTED, COMPACTED, MARKER, RECORD, scripted
from tests.unit.delivery.scripted_world import ENDED, MESSAGES, PATTERNS, SOURCES, World

GAPS = [name for name in PATTERNS if name != "unparsable"]  # what cannot be parsed is fetched a second time


def counters(world: World) -> Counters:
    return world.worker.consumer.counters


def assert_fetched_once(world: World) -> None:
    served = world.worker.kafka._fetcher.served
    for tp in SOURCES:
        runs = [(start, end) for run_of, start, end in served if run_of == tp]
        assert [start for start, _ in runs[1:]] == [end for _, end in runs[:-1]], f"{tp} was fetched as {runs}"
    assert world.worker.consumer._thread.calls.count("_place") == 1, "only the beginning of an epoch seeks"
    assert counters(world).rewinds == 0


async def read_all(world: World, produced: list[tuple[int, str, int]]) -> None:
    await world.step("rebalance", 0)
    await world.go(12)
    for index, pattern, count in produced:
        world.cluster.logs[SOURCES[index]].kinds += PATTERNS[pattern]
        await world.step("work", count)
        world.check()
    await world.flow(1)
    await world.read_to_the_end(SOURCES)
    assert world.worker.consumer.frontier_lag == 0
    assert_fetched_once(world)
    assert counters(world).epochs == 1
    await world.worker.die()


@pytest.mark.parametrize("checkpoints", [False, True], ids=["acked by hand", "with a table"])
@settings(max_examples=25)
@given(
    produced=st.lists(
        st.tuples(st.integers(0, len(SOURCES) - 1), st.sampled_from(GAPS), st.integers(0, 6)), min_size=5, max_size=25
    ),
    max_poll_records=st.sampled_from([1, 3, 500]),
)
def test_each_offset_is_fetched_once_in_an_epoch_with_any_gaps(checkpoints, produced, max_poll_records):
    async def play() -> None:
        await read_all(World(checkpoints=checkpoints, max_poll_records=max_poll_records), produced)

    with scripted(), asyncio.Runner(loop_factory=VirtualLoop) as runner:
        runner.run(play())


@pytest.fixture
def broker() -> Iterator[None]:
    with scripted():
        yield


@pytest.mark.usefixtures("broker")
async def test_a_backlog_with_gaps_needs_no_more_reads_than_one_without():
    reads = {}
    for name, kinds in (
        ("whole", [RECORD] * 4),
        ("transactions", [RECORD, RECORD, RECORD, MARKER]),
        ("compacted", [RECORD, COMPACTED, COMPACTED, COMPACTED]),
        ("aborted", [ABORTED, ABORTED, ABORTED, MARKER]),
    ):
        world = World(checkpoints=True, max_poll_records=500)
        world.cluster.logs[MESSAGES].kinds += kinds * 1_000
        world.worker.gates.open = True
        await world.step("rebalance", 0)
        await asyncio.sleep(1.0)
        for _ in range(10):
            world.fetch(500)
            await asyncio.sleep(1.5)  # what is trailing is noticed when the fetcher has waited for more
            for _ in range(4):
                world.worker.take()
        assert world.worker.consumer.positions.expected(MESSAGES) == world.cluster.logs[MESSAGES].end
        assert_fetched_once(world)
        reads[name] = counters(world).batches
        await world.worker.die()
    assert max(reads.values()) <= reads["whole"] + 3, reads


@pytest.mark.usefixtures("broker")
@pytest.mark.parametrize("checkpoints", [False, True], ids=["acked by hand", "with a table"])
async def test_trailing_markers_and_aborted_transactions_leave_no_lag(checkpoints):
    world = World(checkpoints=checkpoints, max_poll_records=500)
    world.cluster.logs[ENDED].kinds += [RECORD, MARKER, MARKER, ABORTED, ABORTED, MARKER]
    await read_all(world, [])
    assert world.cluster.start(ENDED) == world.cluster.logs[ENDED].end
