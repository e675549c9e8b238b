"""Consumer, thread, recovery and checkpoints lose, skip and prematurely commit nothing under any schedule."""

import asyncio

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.fakes.clock import VirtualLoop
from tests.fakes.fetcher import scripted
from tests.unit.delivery.scripted_world import World


async def play(schedule: list[tuple[str, int]], *, checkpoints: bool, max_poll_records: int) -> None:
    world = World(checkpoints=checkpoints, max_poll_records=max_poll_records)
    for what, which in BEGUN + schedule:
        await world.step(what, which)
        world.check()
    await world.end_well()


BEGUN = [("rebalance", 0), ("go", 10)]
OFTEN = ["produce", "produce", "fetch", "request", "answer", "pass", "go", "work", "work", "work", "work"]
OFTEN += ["take", "take", "finish", "finish", "save"]
RARE = ["rebalance", "rebalance", "find positions", "fail", "expel", "elsewhere", "restart drain", "kill", "time"]
RARE += ["produce unparsable", "restart drain", "restart drain"]
# The fetcher was drained, and what it gave reaches nobody: the next read would go on behind a hole.
LOST_READ = [("go", 4), ("request", 0), ("answer", 0), ("restart drain", 0), ("produce", 2), *[("work", 3)] * 4]
# A read is on its way while an epoch ends and another one begins.
STALE_READ = [
    ("go", 4),
    ("request", 0),
    ("answer", 0),
    ("rebalance", 0),
    *[("pass", 4)] * 16,
    ("pass", 0),
    *[("work", 3)] * 4,
]
# A worker works on while the group has given its partitions to somebody else.
EXPELLED = [
    ("work", 3),
    ("expel", 0),
    ("elsewhere", 4),
    ("work", 3),
    ("save", 0),
    ("rebalance", 0),
    ("go", 9),
    ("work", 3),
]
# Somebody else was here between two epochs.
AND_BACK = [("work", 3), ("rebalance", 3), ("go", 9), ("elsewhere", 4), ("rebalance", 0), ("go", 9), *[("work", 3)] * 4]
# Batches are taken before their epoch ends and finished after it.
LATE = [
    ("work", 3),
    ("fetch", 4),
    ("go", 2),
    ("take", 2),
    ("rebalance", 0),
    ("finish", 1),
    ("go", 9),
    ("finish", 0),
    ("save", 0),
]

# Doing nothing comes first: a schedule that fails is shortened to what matters.
steps = st.tuples(st.sampled_from(["nothing", *OFTEN, *OFTEN, *OFTEN, *RARE]), st.integers(0, 11))


@pytest.mark.parametrize("checkpoints", [False, True], ids=["acked by hand", "with a table"])
@settings(max_examples=100)
@example(schedule=LOST_READ, max_poll_records=500)
@example(schedule=STALE_READ, max_poll_records=500)
@example(schedule=EXPELLED, max_poll_records=2)
@example(schedule=AND_BACK, max_poll_records=500)
@example(schedule=LATE, max_poll_records=2)
@given(schedule=st.lists(steps, min_size=25, max_size=60), max_poll_records=st.sampled_from([2, 500]))
def test_under_any_schedule_no_record_is_lost_and_no_offset_is_committed_before_it_is_applied(
    checkpoints, schedule, max_poll_records
):
    with scripted(), asyncio.Runner(loop_factory=VirtualLoop) as runner:
        runner.run(play(schedule, checkpoints=checkpoints, max_poll_records=max_poll_records))
