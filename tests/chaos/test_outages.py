"""A worker stopped beyond its session, and a broker gone for a while: nothing is lost, doubled or stuck."""

import asyncio
import random
import signal
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from deploy import connections
from deploy.embedded.stack import EmbeddedStack
from deploy.settings import Settings
from tests.chaos.conversations import Conversation, conversations
from tests.chaos.kill_loop import Plan, publish, quiet
from tests.chaos.ledger import Ledger, balance
from tests.chaos.workers import WorkerProcess
from tests.deployment import prepared

PLAN = Plan(seed=7, kills=0, conversations=120, lengths=(6, 16))


@asynccontextmanager
async def two_workers(settings: Settings, directory: Path) -> AsyncIterator[list[WorkerProcess]]:
    workers = [WorkerProcess(f"worker-{number}", settings, directory) for number in range(2)]
    try:
        for worker in workers:
            worker.start()
        for worker in workers:
            await worker.wait_ready()
        yield workers
    finally:
        await asyncio.gather(*(worker.stop() for worker in workers if worker.running))


async def balanced(settings: Settings, said: list[Conversation]) -> Ledger:
    """The ledger once nothing is left to process."""
    assert await quiet(settings) == 0
    async with connections.postgres(settings, max_size=2) as pool:
        return await balance(settings, pool, said)


async def until_it_owns_everything(worker: WorkerProcess, settings: Settings, timeout_s: float = 60.0) -> None:
    """Until a worker begins an epoch of the windows stage with every partition of its three topics."""
    everything = f"begins with {3 * settings.conversation_partitions} partitions"
    group = settings.topics().group("windows")
    deadline = time.monotonic() + timeout_s
    while not any(group in line and everything in line for line in worker.log_lines()):
        assert time.monotonic() < deadline, f"{worker.name} did not get every partition"
        await asyncio.sleep(0.2)


@pytest.mark.heavy
async def test_a_worker_stopped_beyond_its_session_overwrites_nothing_when_it_wakes_up(
    embedded_stack: EmbeddedStack, tmp_path: Path
):
    settings = await prepared(embedded_stack, f"stall{int(time.time())}", tmp_path)
    rng = random.Random(PLAN.seed)
    said = conversations(PLAN.conversations, PLAN.lengths, rng)
    async with two_workers(settings, tmp_path) as workers:
        publishing = asyncio.create_task(publish(settings, PLAN, said, rng))
        workers[1].forget_log()
        workers[0].send(signal.SIGSTOP)  # in the middle of whatever it does
        await until_it_owns_everything(workers[1], settings)  # the session of the other one is over
        workers[0].send(signal.SIGCONT)
        await publishing
        ledger = await balanced(settings, said)
        assert [worker.running for worker in workers] == [True, True]
    assert (ledger.lost, ledger.duplicated) == ([], [])


@pytest.mark.heavy
async def test_workers_go_on_when_the_broker_comes_back(cache_dir: Path, tmp_path: Path):
    rng = random.Random(PLAN.seed)
    said = conversations(PLAN.conversations, PLAN.lengths, rng)
    half = PLAN.conversations // 2
    async with EmbeddedStack(tmp_path / "stack", cache_dir) as stack:
        settings = await prepared(stack, "outage", tmp_path)
        async with two_workers(settings, tmp_path) as workers:
            await publish(settings, PLAN, said[:half], rng)
            stack.broker.kill()  # with a backlog: what was published is not yet processed
            await stack.broker.start()
            await publish(settings, PLAN, said[half:], rng)
            ledger = await balanced(settings, said)
            assert [worker.running for worker in workers] == [True, True]
    assert (ledger.lost, ledger.duplicated) == ([], [])
