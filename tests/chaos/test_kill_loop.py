"""Workers killed with -9 at random moments leave a clean ledger; stock Faust does not after fewer kills."""

import random
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from deploy.embedded.stack import EmbeddedStack
from tests.chaos.conversations import conversations
from tests.chaos.kill_loop import Plan, publish, run
from tests.chaos.stock_faust import StockFaust
from tests.chaos.system_under_test import drained
from tests.chaos.workers import WorkerProcess
from tests.deployment import eventually

KILLS = 6
AT_ONCE = Plan(seed=0, kills=0, conversations=400, rate=1_000_000)


@contextmanager
def alive(worker: WorkerProcess) -> Iterator[WorkerProcess]:
    worker.start()
    try:
        yield worker
    finally:
        worker.kill()


@pytest.mark.heavy
async def test_killing_workers_at_random_moments_loses_and_duplicates_nothing(
    embedded_stack: EmbeddedStack, tmp_path: Path
):
    seed = random.randrange(1_000_000)
    plan = Plan(seed=seed, kills=KILLS, conversations=300, fresh_directories=seed % 2 == 1, erased=12)
    result = await run(plan, embedded_stack, tmp_path)
    assert result.clean, result
    assert len(result.backlogs) == KILLS
    assert all(result.backlogs), "a kill hit an idle system and proves nothing"


@pytest.mark.heavy
async def test_the_kill_loop_harness_detects_messages_lost_by_stock_faust(
    embedded_stack: EmbeddedStack, tmp_path: Path
):
    """A harness that finds nothing here would find nothing in memstream either. Random kills lose stock Faust something only
    now and then. A worker that wakes up beyond its session always does: it writes its rows over those of its successor."""
    rng = random.Random()
    system = await StockFaust.prepared(embedded_stack, f"stock{int(time.time())}", tmp_path)
    said = conversations(AT_ONCE.conversations, AT_ONCE.lengths, rng)
    await publish(system.settings, AT_ONCE, said, rng)
    total = sum(len(each.messages) for each in said)

    async def at_work() -> bool:
        return 0 < await system.lag() < total

    async def lost() -> list[str]:
        return (await system.ledger(said)).lost

    with alive(system.worker()) as sleeper:
        await eventually(at_work, "stock Faust has begun")
        sleeper.send(signal.SIGSTOP)
        with alive(system.worker()):
            await drained(system, within_s=240.0)
            sleeper.send(signal.SIGCONT)
            await eventually(lost, "stock Faust loses messages")
