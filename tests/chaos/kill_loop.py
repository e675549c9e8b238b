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
from tests.chaos.conversations import conversations, interleaved
from tests.chaos.ledger import Ledger, balance, first, lags
from tests.chaos.workers import WorkerProcess
from tests.deployment import prepared

OPEN_AT_ONCE = 60
QUIET_WITHIN_S = 240.0


class Plan(Struct, frozen=True, kw_only=True):
    """One run; `rate` is messages published a second, above what is processed in peace while workers are killed."""

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
        publishing = asyncio.create_task(publish(settings, plan, said, rng))
        await kill_again_and_again(plan, workers, settings, directory, rng)
        await publishing
        remaining = await quiet(settings)
        async with connections.postgres(settings, max_size=2) as pool:
            ledger = await balance(settings, pool, said)
    finally:
        await asyncio.gather(*(worker.stop() for worker in workers if worker.running))
    return result(plan, said, ledger, remaining, time.monotonic() - begun)


async def publish(settings: Settings, plan: Plan, said, rng: random.Random) -> None:
    begun, sent, held = time.monotonic(), 0, []
    async with connections.kafka(settings) as publisher:
        for record in interleaved(said, OPEN_AT_ONCE, rng):
            held.append(record)
            sent += 1
            if len(held) == 20:
                await publisher.publish(held)
                held = []
                await asyncio.sleep(max(0.0, begun + sent / plan.rate - time.monotonic()))
        await publisher.publish(held)


async def kill_again_and_again(plan: Plan, workers, settings: Settings, directory: Path, rng: random.Random) -> None:
    """Shortly after a worker has joined, which is a rebalance, a random one of the two is killed and started again."""
    joined = workers[-1]
    for number in range(plan.kills):
        await joined.wait_ready()
        await asyncio.sleep(rng.uniform(0.0, 2.5))
        victim = rng.randrange(len(workers))
        workers[victim].kill()
        if plan.fresh_directories:
            workers[victim] = WorkerProcess(f"{workers[victim].name}-{number}", settings, directory)
        workers[victim].start()
        joined = workers[victim]
        report(f"kill {number + 1} of {plan.kills}")
    await joined.wait_ready()


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


def result(plan: Plan, said, ledger: Ledger, remaining: int, seconds: float) -> Result:
    return Result(
        seed=plan.seed,
        kills=plan.kills,
        conversations=len(said),
        messages=sum(len(conversation.messages) for conversation in said),
        lost=len(ledger.lost),
        duplicated=len(ledger.duplicated),
        repeated=ledger.repeated,
        final_lag=remaining,
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
        totals = {
            name: sum(getattr(each, name) for each in results)
            for name in ("kills", "messages", "lost", "duplicated", "repeated", "final_lag")
        }
        sys.stdout.write(
            codec.encode({"runs": len(results), **totals, "seeds": [each.seed for each in results]}).decode() + "\n"
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
