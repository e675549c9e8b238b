"""Two workers, one partition, any schedule: each record is applied exactly once in what the broker keeps.

The changelog is compacted at any time and made anew, a worker is killed at any time and comes back with its store, or
without, or a day later; a store refuses what the broker has taken.
"""

import asyncio

from hypothesis import example, given, settings
from hypothesis import strategies as st

from schemas.errors import Retryable
from streams.delivery.ledger import TRUSTED_S
from tests.fakes.clock import VirtualLoop, settled
from tests.unit.delivery.two_workers import CLOSING_S, Cluster, Worker, end_well

BROKER_AWAY = dict.fromkeys(("open", "read", "commit", "committed", "offsets"), lambda: Retryable("broker away"))


async def step(cluster: Cluster, workers: list[Worker], what: str, which: int) -> None:
    index = which % len(workers)
    worker = workers[index]
    if worker.given_up:  # whoever watches the processes starts it again
        await worker.die()
        worker = workers[index] = Worker(cluster, worker.disk)
    match what:
        case "produce":
            cluster.produced += 1 + which
        case "read":
            worker.read(1 + which // 2)
        case "apply":
            worker.apply()
        case "work":
            worker.read(2)
            worker.apply()
            worker.checkpoint()
        case "checkpoint":
            worker.checkpoint()
        case "pass":
            worker.gates.let_pass()
        case "all pass":
            for _ in range(6):
                worker.gates.let_pass()
                await settled(6)
        case "go":
            for _ in range(2 + which):
                while worker.gates.waiting:
                    worker.gates.let_pass()
                    await settled(6)
                worker.read(1 + which)
                worker.apply()
                worker.checkpoint()
                await settled(6)
        case "fail":
            worker.gates.fail(BROKER_AWAY)
        case "assign":
            worker.spawn(worker.assign())
        case "lose":
            worker.spawn(worker.lose())
        case "kill":
            await worker.die()
            workers[index] = Worker(cluster, worker.disk if which < len(workers) else None)
        case "store fails":
            worker.disk.fails_next = True
        case "compact":
            cluster.compact(0)
        case "recreate":
            await recreate(cluster, workers, same=which < len(workers))
        case "limbo":
            cluster.limbo_arrives()
        case "time":
            await asyncio.sleep(2 * CLOSING_S)
        case "half a day":
            await asyncio.sleep((0.3 + 0.6 * which) * TRUSTED_S)
    await settled(12)


async def recreate(cluster: Cluster, workers: list[Worker], *, same: bool) -> None:
    """Everything is stopped and begun anew, with the stores that are left: in another cluster, or in the same one.

    In the same one only who comes back first may keep a store. One that stands within the new changelog looks as if it
    belonged to it.
    """
    for worker in workers:
        await worker.die()
    cluster.recreate(cluster.name if same else cluster.name + "'")
    workers[:] = [Worker(cluster, workers[0].disk), Worker(cluster, None if same else workers[1].disk)]
    if same:
        workers[0].gates.open = True
        await workers[0].assign()
        await settled()
        workers[0].gates.open = False


async def play(schedule: list[tuple[str, int]]) -> None:
    cluster = Cluster()
    workers = [Worker(cluster), Worker(cluster)]
    for what, which in schedule:
        await step(cluster, workers, what, which)
        cluster.check()
        for worker in workers:
            worker.check()
    await end_well(cluster, workers)


STEPS = [
    "produce",
    "produce",
    "read",
    "apply",
    "work",
    "work",
    "checkpoint",
    "pass",
    "pass",
    "all pass",
    "fail",
    "go",
    "go",
]
RARE = ["assign", "assign", "lose", "limbo", "time", "kill", "compact", "store fails", "recreate", "half a day"]
# Doing nothing comes first: a schedule that fails is shortened to what matters.
steps = st.tuples(st.sampled_from(["nothing", *STEPS, *STEPS, *STEPS, *RARE, *RARE]), st.integers(0, 3))
begun = [("produce", 3), ("produce", 3), ("assign", 0), ("all pass", 0)]

# An owner whose checkpoint is in doubt stalls; another takes over and goes on; the first wakes up.
STALE_OWNER = [
    *[("work", 0), ("fail", 0), ("assign", 1), ("pass", 1), ("pass", 1), ("pass", 1)],
    *[("work", 1), ("pass", 1), ("pass", 1), ("checkpoint", 0), ("pass", 0), ("pass", 0), ("pass", 0)],
    *[("work", 0), ("pass", 0), ("pass", 0), ("work", 1), ("pass", 1), ("pass", 1)],
]
LOST_ANSWER = [("work", 0), ("pass", 0), ("fail", 0), ("pass", 0), ("pass", 0), ("pass", 0), ("work", 0), ("pass", 0)]
ARRIVES_LATE = [("work", 0), ("fail", 0), ("limbo", 0), ("pass", 0), ("limbo", 0), ("pass", 0), ("pass", 0)]
REVOKED_MIDWAY = [
    *[("work", 0), ("lose", 0), ("assign", 1), ("pass", 1), ("pass", 0), ("pass", 1), ("time", 0), ("limbo", 0)],
]
# More was applied while a checkpoint was on its way that then failed: none of it may be seen in the next epoch.
APPLIED_MEANWHILE = [("work", 0), ("work", 0), ("fail", 0), ("all pass", 0), ("work", 0), ("all pass", 0)]

# The broker has the checkpoint, the worker is killed before its store has it; it comes back with what it has, and goes on.
BACK = [("assign", 0), ("all pass", 0), ("work", 0), ("all pass", 0)]
KILLED = [("work", 0), ("all pass", 0), ("work", 0), ("pass", 0), ("kill", 0), ("compact", 0), *BACK]
KILLED_IN_RECOVERY = [
    *[("work", 0), ("all pass", 0), ("kill", 2), ("assign", 0), ("pass", 0), ("pass", 0), ("kill", 0), *BACK],
]

ALL_WORK = [("work", 0), ("all pass", 0)] * 4
# A worker has rows; another one deletes them while it is away, for longer than deletions are kept.
AWAY = [*ALL_WORK[:4], ("assign", 1), ("all pass", 1), ("work", 1), ("all pass", 1), ("work", 1), ("all pass", 1)]
AWAY_FOR_LONG = [*AWAY, ("half a day", 3), ("half a day", 3), ("compact", 0), ("lose", 1), ("produce", 3), *BACK]
AWAY_FOR_A_WHILE = [*AWAY, ("half a day", 1), ("compact", 0), ("lose", 1), ("produce", 3), *BACK]
STORE_FAILS = [("work", 0), ("all pass", 0), ("store fails", 0), *ALL_WORK, *BACK]
STORE_FAILS_IN_RECOVERY = [("work", 0), ("all pass", 0), ("lose", 0), ("store fails", 0), *BACK, *BACK]
MADE_ANEW = [*ALL_WORK, ("recreate", 0), *BACK, *ALL_WORK]
IN_ANOTHER_CLUSTER = [*ALL_WORK, ("recreate", 3), *BACK, ("assign", 1), ("all pass", 1), ("work", 1), ("all pass", 1)]


@settings(max_examples=200)
@given(st.lists(steps, min_size=20, max_size=60))
@example(STALE_OWNER)
@example(LOST_ANSWER)
@example(ARRIVES_LATE)
@example(REVOKED_MIDWAY)
@example(APPLIED_MEANWHILE)
@example(KILLED)
@example(KILLED_IN_RECOVERY)
@example(AWAY_FOR_LONG)
@example(AWAY_FOR_A_WHILE)
@example(STORE_FAILS)
@example(STORE_FAILS_IN_RECOVERY)
@example(MADE_ANEW)
@example(IN_ANOTHER_CLUSTER)
def test_under_any_schedule_each_record_is_applied_once_and_committed_only_afterwards(schedule):
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        runner.run(play(begun + schedule))
