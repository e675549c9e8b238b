"""The kill loop: two workers process conversations while SIGKILL ends them in turn; then the ledger is checked.

`python -m tests.chaos.kill_loop --seed 1 --runs 2` prints one JSON object as its last line. The exit code is zero if nothing
was lost, duplicated or left unprocessed, and no worker ended by itself. `--worker stock` attacks stock Faust, which fails.
The kills come at random moments, so this script sleeps, unlike tests.
"""

import argparse
import asyncio
import random
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from deploy.embedded.stack import EmbeddedStack
from deploy.settings import Settings, load
from schemas import codec
from tests.chaos.conversations import Conversation, conversations
from tests.chaos.ledger import first
from tests.chaos.memstream_system import Memstream
from tests.chaos.message_feed import MessageFeed, running_feed
from tests.chaos.stock_faust import StockFaust
from tests.chaos.system_under_test import SystemUnderTest, drained
from tests.chaos.workers import WorkerProcess

SYSTEMS: dict[str, type[SystemUnderTest]] = {"memstream": Memstream, "stock": StockFaust}


class Plan(Struct, frozen=True, kw_only=True):
    """One run. `rate` is the number of events published per second.

    A killed worker restarts on its data directory, or, with `fresh_directories`, on an empty one. `erased` is the number of
    users erased between the kills.
    """

    seed: int
    kills: int
    conversations: int
    lengths: tuple[int, int] = (8, 24)
    rate: int = 400
    fresh_directories: bool = False
    erased: int = 0


class Result(Struct, kw_only=True):
    """The printed result of a run: counts, and the first ledger entries if the ledger is not clean."""

    worker: str
    seed: int
    fresh_directories: bool
    kills: int
    conversations: int
    erased: int
    messages: int
    lost: int
    duplicated: int
    repeated: int
    final_lag: int
    ended: int
    backlogs: list[int]
    seconds: float
    entries: list[str]

    @property
    def clean(self) -> bool:
        return not (self.lost or self.duplicated or self.final_lag or self.ended)


class Attack(Struct):
    """The backlog (records not committed) at each kill, and workers that ended by themselves."""

    backlogs: list[int] = field(default_factory=list)
    ended: list[str] = field(default_factory=list)


async def run(plan: Plan, stack: EmbeddedStack, directory: Path, worker: str = "memstream") -> Result:
    """Runs a plan on a running stack, with its own names and directory."""
    begun = time.monotonic()
    rng = random.Random(plan.seed)
    name = f"kill{plan.seed}x{int(time.time())}"
    system = await SYSTEMS[worker].prepared(stack, name, created_directory(directory / name))
    said = conversations(plan.conversations, plan.lengths, rng)
    async with two_workers(system) as workers:
        attacked = await attack(plan, system, workers, said, rng)
        remaining = await drained(system)
        ledger = await system.ledger(said)
        attacked.ended += [worker.name for worker in workers if not worker.running]
    ledger.lost += await system.left_wrong()
    return Result(
        worker=worker,
        seed=plan.seed,
        fresh_directories=plan.fresh_directories,
        kills=plan.kills,
        conversations=len(said),
        erased=plan.erased,
        messages=sum(len(conversation.messages) for conversation in said),
        lost=len(ledger.lost),
        duplicated=len(ledger.duplicated),
        repeated=ledger.repeated,
        final_lag=remaining,
        ended=len(attacked.ended),
        backlogs=attacked.backlogs,
        seconds=round(time.monotonic() - begun, 1),
        entries=first(ledger.lost) + first(ledger.duplicated) + [f"{name} ended by itself" for name in attacked.ended],
    )


@asynccontextmanager
async def two_workers(system: SystemUnderTest) -> AsyncIterator[list[WorkerProcess]]:
    """Starts two workers, and stops those that are in the list at the end."""
    workers = [system.worker(), system.worker()]
    try:
        for worker in workers:
            worker.start()
        yield workers
    finally:
        await asyncio.gather(*(worker.stop() for worker in workers if worker.running))


async def attack(
    plan: Plan, system: SystemUnderTest, workers: list[WorkerProcess], said: list[Conversation], rng: random.Random
) -> Attack:
    """Publishes the conversations and kills workers.

    Shortly after a worker has joined, which causes a rebalance, a random one of the two is killed and restarted. Half of the
    events for a kill are published before the rebalance ends, the other half just before the kill.
    """
    joined, result, share = workers[-1], Attack(), 1.0 / (plan.kills + 1)
    erased = rng.sample(sorted({each.user_id for each in said}), plan.erased)
    async with running_feed(system.settings, said, plan.rate, rng) as feed:
        for number in range(plan.kills):
            feed.release(share / 2)
            await joined.wait_ready()
            feed.release(share / 2)
            await asyncio.sleep(rng.uniform(0.0, 2.0))
            result.backlogs.append(await backlog(feed, system))
            result.ended += restart_ended(workers)
            if users := erased[number :: plan.kills]:
                await system.erase(users)
            victim = rng.randrange(len(workers))
            workers[victim].kill()
            if plan.fresh_directories:
                workers[victim] = system.worker()
            workers[victim].start()
            joined = workers[victim]
            report(f"kill {number + 1} of {plan.kills}, backlog {result.backlogs[-1]}")
    await joined.wait_ready()
    return result


def restart_ended(workers: list[WorkerProcess]) -> list[str]:
    """Restarts workers that ended by themselves, as an orchestrator does; returns their names."""
    ended = [worker for worker in workers if not worker.running]
    for worker in ended:
        worker.start()
    return [worker.name for worker in ended]


async def backlog(feed: MessageFeed, system: SystemUnderTest) -> int:
    """Returns the number of pending records; publishes more first if there are none."""
    while not (waiting := await system.lag()) and not feed.exhausted:
        feed.release(0.01)
        await asyncio.sleep(0.1)
    return waiting


async def publish(settings: Settings, plan: Plan, said: list[Conversation], rng: random.Random) -> None:
    """Publishes all conversations at the rate of the plan."""
    async with running_feed(settings, said, plan.rate, rng):
        pass


async def quiet(settings: Settings) -> int:
    """Waits until memstream has nothing left to process; returns the pending count at the deadline."""
    return await drained(Memstream(settings, settings.data_dir))


def created_directory(path: str | Path) -> Path:
    directory = Path(path).absolute()
    directory.mkdir(parents=True, exist_ok=True)
    return directory


def report(text: str) -> None:
    sys.stderr.write(text + "\n")


def summary(results: list[Result]) -> dict[str, Any]:
    """Sums over all runs, and the seed, directories and duration of each run."""
    counted = ("kills", "conversations", "erased", "messages", "lost", "duplicated", "repeated", "final_lag", "ended")
    return {
        "worker": results[0].worker,
        "runs": len(results),
        "clean": all(each.clean for each in results),
        **{name: sum(getattr(each, name) for each in results) for name in counted},
        "kills_without_backlog": sum(not waiting for each in results for waiting in each.backlogs),
        "seeds": [each.seed for each in results],
        "fresh_directories": [each.fresh_directories for each in results],
        "seconds": [each.seconds for each in results],
    }


async def main(options: argparse.Namespace) -> int:
    """Runs the plans. Every second one gives killed workers empty directories."""
    with tempfile.TemporaryDirectory(prefix="memstream-kill-", ignore_cleanup_errors=True) as kept:
        directory = options.keep or Path(kept)
        results = []
        async with EmbeddedStack(directory / "stack", load().cache) as stack:
            for number in range(options.runs):
                plan = Plan(
                    seed=options.seed + number,
                    kills=options.kills,
                    conversations=options.conversations,
                    rate=options.rate,
                    fresh_directories=number % 2 == 1,
                    erased=0 if options.worker == "stock" else options.erased,
                )
                results.append(await run(plan, stack, directory, options.worker))
                report(codec.encode(results[-1]).decode())
        totals = summary(results)
        sys.stdout.write(codec.encode(totals).decode() + "\n")
        return 0 if totals["clean"] else 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worker", choices=SYSTEMS, default="memstream", help="the system to kill")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--conversations", type=int, default=2_000)
    parser.add_argument("--erased", type=int, default=20, help="users erased between the kills")
    parser.add_argument("--rate", type=int, default=400, help="events published a second")
    parser.add_argument("--keep", type=created_directory, help="directory for data and logs; default: a temporary one")
    sys.exit(asyncio.run(main(parser.parse_args())))
