"""The kill loop: conversations flow through two workers while one after the other is killed with -9; then the ledger.

`python -m tests.chaos.kill_loop --seed 1 --kills 10 --conversations 500 --runs 1`: the last line is one JSON object.
Waiting for random moments is the point here, so this script sleeps where tests may not.
"""

import argparse
import asyncio
import random
import sys
import tempfile
import time
from pathlib import Path

from msgspec import Struct

from deploy import connections
from deploy.embedded.stack import EmbeddedStack
from deploy.settings import Settings, load
from schemas import codec
from schemas.records import Outgoing
from tests.chaos.conversations import Conversation, conversations, interleaved
from tests.chaos.ledger import Ledger, balance, first, lags
from tests.chaos.workers import WorkerProcess
from tests.deployment import prepared

OPEN_AT_ONCE = 60  # conversations that are interleaved
AT_ONCE = 20  # events published together
QUIET_WITHIN_S = 240.0


class Plan(Struct, frozen=True, kw_only=True):
    """One run; `rate` is events published a second, of the part that is released for each kill."""

    seed: int
    kills: int
    conversations: int
    lengths: tuple[int, int] = (6, 24)
    rate: int = 400
    fresh_directories: bool = False


class Result(Struct, kw_only=True):
    """What a run printed: counts, and the first entries of the ledger where it is not clean."""

    seed: int
    kills: int
    conversations: int
    messages: int
    lost: int
    duplicated: int
    repeated: int
    final_lag: int
    backlogs: list[int]
    seconds: float
    entries: list[str]


async def run(plan: Plan, stack: EmbeddedStack, directory: Path) -> Result:
    """One run on a running stack, under a topic prefix, a database and a collection of its own."""
    begun = time.monotonic()
    rng = random.Random(plan.seed)
    name = f"kill{plan.seed}x{int(time.time())}"
    settings = await prepared(stack, name, directory)
    said = conversations(plan.conversations, plan.lengths, rng)
    workers = [WorkerProcess(f"{name}-w{number}", settings, directory) for number in range(2)]
    try:
        for worker in workers:
            worker.start()
        supply = Supply(settings, list(interleaved(said, OPEN_AT_ONCE, rng)), plan.rate)
        publishing = asyncio.create_task(supply.run())
        backlogs = await kill_again_and_again(plan, workers, supply, settings, directory, rng)
        await publishing
        remaining = await quiet(settings)
        async with connections.postgres(settings, max_size=2) as pool:
            ledger = await balance(settings, pool, said)
    finally:
        await asyncio.gather(*(worker.stop() for worker in workers if worker.running))
    return result(plan, said, ledger, backlogs, remaining, time.monotonic() - begun)


class Supply:
    """Publishes events as far as they are released: a part for each kill, so that none hits an idle system."""

    def __init__(self, settings: Settings, events: list[Outgoing], rate: int) -> None:
        self._settings = settings
        self._events = events
        self._rate = rate
        self._released = 0
        self._more = asyncio.Event()

    def release(self, share: float) -> None:
        """Lets another share of all events go."""
        self._released = min(len(self._events), self._released + max(1, round(share * len(self._events))))
        self._more.set()

    @property
    def exhausted(self) -> bool:
        return self._released == len(self._events)

    async def run(self) -> None:
        """Returns when everything is published."""
        sent = 0
        async with connections.kafka(self._settings) as publisher:
            while sent < len(self._events):
                if sent == self._released:
                    self._more.clear()
                    await self._more.wait()
                part = self._events[sent : min(sent + AT_ONCE, self._released)]
                await publisher.publish(part)
                sent += len(part)
                await asyncio.sleep(len(part) / self._rate)


async def publish(settings: Settings, plan: Plan, said: list[Conversation], rng: random.Random) -> None:
    """Publishes everything at once, as fast as the plan says."""
    supply = Supply(settings, list(interleaved(said, OPEN_AT_ONCE, rng)), plan.rate)
    supply.release(1.0)
    await supply.run()


async def kill_again_and_again(
    plan: Plan,
    workers: list[WorkerProcess],
    supply: Supply,
    settings: Settings,
    directory: Path,
    rng: random.Random,
) -> list[int]:
    """Shortly after a worker has joined, which is a rebalance, a random one of the two is killed and started again.

    What is published meanwhile waits for the rebalance to end. Returns the backlog (records not committed, over all stages)
    that each kill hit.
    """
    joined, backlogs = workers[-1], []
    for number in range(plan.kills):
        supply.release(1.0 / (plan.kills + 1))
        await joined.wait_ready()
        await asyncio.sleep(rng.uniform(0.0, 2.0))
        backlogs.append(await backlog(supply, settings))
        victim = rng.randrange(len(workers))
        workers[victim].kill()
        if plan.fresh_directories:
            workers[victim] = WorkerProcess(f"{workers[victim].name}-{number}", settings, directory)
        workers[victim].start()
        joined = workers[victim]
        report(f"kill {number + 1} of {plan.kills}, backlog {backlogs[-1]}")
    supply.release(1.0)
    await joined.wait_ready()
    return backlogs


async def backlog(supply: Supply, settings: Settings) -> int:
    """What waits to be processed; a little more is published first when nothing does."""
    while not (waiting := sum((await lags(settings)).values())) and not supply.exhausted:
        supply.release(0.01)
        await asyncio.sleep(0.1)
    return waiting


async def quiet(settings: Settings) -> int:
    """Waits until nothing is left to process, twice in a row; returns what is still behind at the deadline."""
    deadline, calm, behind = time.monotonic() + QUIET_WITHIN_S, 0, -1
    while calm < 2 and time.monotonic() < deadline:
        await asyncio.sleep(1.0)
        behind = sum((await lags(settings)).values())
        async with connections.postgres(settings, max_size=1) as pool:
            behind += await pool.fetchval("SELECT count(*) FROM outbox")
        calm = calm + 1 if behind == 0 else 0
    return behind


def result(
    plan: Plan, said: list[Conversation], ledger: Ledger, backlogs: list[int], remaining: int, seconds: float
) -> Result:
    return Result(
        seed=plan.seed,
        kills=plan.kills,
        conversations=len(said),
        messages=sum(len(conversation.messages) for conversation in said),
        lost=len(ledger.lost),
        duplicated=len(ledger.duplicated),
        repeated=ledger.repeated,
        final_lag=remaining,
        backlogs=backlogs,
        seconds=round(seconds, 1),
        entries=first(ledger.lost) + first(ledger.duplicated),
    )


def made(path: str) -> Path:
    directory = Path(path).absolute()
    directory.mkdir(parents=True, exist_ok=True)
    return directory


def report(text: str) -> None:
    sys.stderr.write(text + "\n")


async def main(options: argparse.Namespace) -> int:
    with tempfile.TemporaryDirectory(prefix="memstream-kill-", ignore_cleanup_errors=True) as kept:
        directory = Path(options.keep or kept)
        results = []
        async with EmbeddedStack(directory / "stack", load().cache) as stack:
            for number in range(options.runs):
                plan = Plan(
                    seed=options.seed + number,
                    kills=options.kills,
                    conversations=options.conversations,
                    rate=options.rate,
                    fresh_directories=number % 2 == 1,
                )
                results.append(await run(plan, stack, directory))
                report(codec.encode(results[-1]).decode())
        idle = sum(not waiting for each in results for waiting in each.backlogs)
        totals = {
            name: sum(getattr(each, name) for each in results)
            for name in ("kills", "messages", "lost", "duplicated", "repeated", "final_lag")
        }
        sys.stdout.write(
            codec.encode(
                {
                    "runs": len(results),
                    **totals,
                    "kills_without_backlog": idle,
                    "seeds": [each.seed for each in results],
                }
            ).decode()
            + "\n"
        )
        return 1 if totals["lost"] or totals["duplicated"] or totals["final_lag"] else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--conversations", type=int, default=500)
    parser.add_argument("--rate", type=int, default=400, help="messages published a second")
    parser.add_argument("--keep", type=made, help="directory for data and logs; default: a temporary one")
    sys.exit(asyncio.run(main(parser.parse_args())))
