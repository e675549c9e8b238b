"""A suspended worker, and broker outages of seconds or minutes, lose, duplicate and block nothing."""

import asyncio
import itertools
import random
import signal
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiokafka.admin import AIOKafkaAdminClient

from deploy.embedded.stack import EmbeddedStack
from deploy.settings import Settings
from deploy.wiring import connections
from streams.kafka.topics import STAGES
from tests.chaos.conversations import Conversation, conversations
from tests.chaos.kill_loop import Plan, publish, quiet
from tests.chaos.ledger import Ledger, balance, lags
from tests.chaos.workers import WorkerProcess
from tests.deployment import eventually
from tests.preparation import prepared

PLAN = Plan(seed=7, kills=0, conversations=120, lengths=(6, 16))
RESTARTED_AFTER_S = 1.0
A_MINUTE_S = 60.0  # longer than any request to the broker may take
SERVED_WITHIN_S = 300.0


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


@asynccontextmanager
async def supervised(workers: list[WorkerProcess]) -> AsyncIterator[list[WorkerProcess]]:
    """Starts workers, and restarts those that end by themselves, including workers that are added to the list."""

    async def restart_ended() -> None:
        while True:
            for worker in workers:
                if not worker.running:
                    worker.start()
            await asyncio.sleep(RESTARTED_AFTER_S)

    for worker in workers:
        worker.start()
    restarting = asyncio.create_task(restart_ended())
    try:
        for worker in workers:
            await worker.wait_ready()
        yield workers
    finally:
        restarting.cancel()
        await asyncio.gather(*(worker.stop() for worker in workers if worker.running))


@asynccontextmanager
async def outage(stack: EmbeddedStack, seconds: float) -> AsyncIterator[None]:
    """Stops the broker for the duration of the block, and at least for `seconds`."""
    over = time.monotonic() + seconds

    async def passed() -> bool:
        return time.monotonic() >= over

    stack.broker.kill()
    try:
        yield
        await eventually(passed, "the outage is over", seconds + 10.0)
    finally:
        await stack.broker.start()


async def all_have_partitions(workers: list[WorkerProcess], settings: Settings) -> None:
    """Waits until every worker has partitions of every stage."""

    async def so() -> bool:
        held = [await members(settings, stage) for stage in STAGES]
        return all(worker.running for worker in workers) and held == [len(workers)] * len(STAGES)

    await eventually(so, "every worker has partitions of every stage", 300.0)


async def members(settings: Settings, stage: str) -> int:
    """The number of workers that hold partitions of a stage."""
    admin = AIOKafkaAdminClient(**settings.cluster().client())
    await admin.start()
    try:
        (described,) = await admin.describe_consumer_groups([settings.topics().group(stage)])
        _, _, state, _, _, found, *_ = described.groups[0]
        return len(found) if state == "Stable" else 0
    finally:
        await admin.close()


async def ledger_when_idle(settings: Settings, said: list[Conversation]) -> Ledger:
    """The ledger once nothing is left to process."""
    assert await quiet(settings) == 0
    async with connections.postgres(settings, max_size=2) as pool:
        return await balance(settings, pool, said)


async def ledger_of_working(workers: list[WorkerProcess], settings: Settings, said: list[Conversation]) -> Ledger:
    """The ledger once nothing is left to process. Fails if a worker stays without partitions."""
    async with asyncio.timeout(SERVED_WITHIN_S):
        ledger = await ledger_when_idle(settings, said)
        await all_have_partitions(workers, settings)
        return ledger


async def until_it_owns_everything(worker: WorkerProcess, settings: Settings, timeout_s: float = 60.0) -> None:
    """Waits until a worker begins an epoch of the windows stage with every partition of its three topics."""
    everything = f"begins with {3 * settings.conversation_partitions} partitions"
    group = settings.topics().group("windows")
    deadline = time.monotonic() + timeout_s
    while not any(group in line and everything in line for line in worker.log_lines()):
        assert time.monotonic() < deadline, f"{worker.name} did not get every partition"
        await asyncio.sleep(0.2)


@pytest.mark.heavy
async def test_a_worker_resumed_after_its_session_expired_overwrites_nothing(
    embedded_stack: EmbeddedStack, tmp_path: Path
):
    settings = await prepared(embedded_stack, f"stall{int(time.time())}", tmp_path)
    rng = random.Random(PLAN.seed)
    said = conversations(PLAN.conversations, PLAN.lengths, rng)
    async with two_workers(settings, tmp_path) as workers:
        publishing = asyncio.create_task(publish(settings, PLAN, said, rng))
        workers[1].forget_log()
        workers[0].send(signal.SIGSTOP)  # at any point of its work
        await until_it_owns_everything(workers[1], settings)  # the session of the other one is over
        workers[0].send(signal.SIGCONT)
        await publishing
        ledger = await ledger_when_idle(settings, said)
        assert [worker.running for worker in workers] == [True, True]
    assert (ledger.lost, ledger.duplicated) == ([], [])


async def restoring(settings: Settings, directory: Path, timeout_s: float = 120.0) -> WorkerProcess:
    """A worker with an empty data directory, suspended while it reads the changelog."""
    reads, done = "is restored from offset", f"{settings.topics().group('windows')}: epoch"
    deadline = time.monotonic() + timeout_s
    for number in itertools.count():
        worker = WorkerProcess(f"late-{number}", settings, directory)
        worker.start()
        while reads not in "".join(worker.log_lines()):
            assert time.monotonic() < deadline, f"{worker.name} restored nothing, or too fast to be caught"
            await asyncio.sleep(0.005)
        worker.send(signal.SIGSTOP)
        if done not in "".join(worker.log_lines()):
            return worker
        worker.kill()
    raise AssertionError


@pytest.mark.heavy
async def test_workers_resume_after_a_broker_restart(breakable: EmbeddedStack, tmp_path: Path):
    rng = random.Random(PLAN.seed)
    said = conversations(PLAN.conversations, PLAN.lengths, rng)
    half = PLAN.conversations // 2
    settings = await prepared(breakable, "outage", tmp_path)
    async with two_workers(settings, tmp_path) as workers:
        await publish(settings, PLAN, said[:half], rng)
        breakable.broker.kill()  # with a backlog: what was published is not yet processed
        await breakable.broker.start()
        await publish(settings, PLAN, said[half:], rng)
        ledger = await ledger_when_idle(settings, said)
        assert [worker.running for worker in workers] == [True, True]
    assert (ledger.lost, ledger.duplicated) == ([], [])


@pytest.mark.heavy
async def test_running_and_recovering_workers_resume_after_a_one_minute_broker_outage(
    breakable: EmbeddedStack, tmp_path: Path
):
    rng = random.Random(PLAN.seed)
    said = conversations(PLAN.conversations, PLAN.lengths, rng)
    half = PLAN.conversations // 2
    settings = await prepared(breakable, "minute", tmp_path)
    async with supervised([WorkerProcess("first", settings, tmp_path)]) as workers:
        await publish(settings, PLAN, said[:half], rng)
        late = await restoring(settings, tmp_path)
        workers.append(late)
        await publish(settings, PLAN, said[half : half + 10], rng)
        assert sum((await lags(settings)).values()), "without a backlog this proves nothing"
        async with outage(breakable, A_MINUTE_S):
            late.send(signal.SIGCONT)
        await publish(settings, PLAN, said[half + 10 :], rng)
        ledger = await ledger_of_working(workers, settings, said)
    assert (ledger.lost, ledger.duplicated) == ([], [])
