"""kill -9 at random moments while conversations flow: memstream's ledger is clean, and stock Faust's is not."""

import random
import time
from pathlib import Path

import pytest

from deploy.embedded.stack import EmbeddedStack
from tests.chaos.conversations import Conversation, conversations
from tests.chaos.kill_loop import Plan, attack, run, two_workers
from tests.chaos.stock import Stock
from tests.chaos.subject import Subject, drained
from tests.chaos.workers import WorkerProcess

ROUNDS = 12
ROUND = Plan(seed=0, kills=5, conversations=500, rate=800, fresh_directories=True)


@pytest.mark.heavy
async def test_killing_workers_at_ten_random_moments_loses_and_doubles_nothing(
    embedded_stack: EmbeddedStack, tmp_path: Path
):
    seed = random.randrange(1_000_000)
    plan = Plan(seed=seed, kills=10, conversations=500, fresh_directories=seed % 2 == 1)
    result = await run(plan, embedded_stack, tmp_path)
    assert result.clean, result
    assert len(result.backlogs) == 10
    assert all(result.backlogs), "a kill hit an idle system and proves nothing"


@pytest.mark.heavy
async def test_the_same_harness_catches_stock_faust_losing_messages_or_leaving_them_undone(
    embedded_stack: EmbeddedStack, tmp_path: Path
):
    """A kill loop that finds nothing here would find nothing in memstream either. Kills hit at random: now and then all of a
    round's hit nothing, so it goes on until something is caught."""
    rng = random.Random()
    subject = await Stock.prepared(embedded_stack, f"stock{int(time.time())}", tmp_path)
    said: list[Conversation] = []
    caught: list[str] = []
    async with two_workers(subject) as workers:
        while not caught and len(said) < ROUNDS * ROUND.conversations:
            more = conversations(ROUND.conversations, ROUND.lengths, rng, first=len(said))
            said += more
            await attack(ROUND, subject, workers, more, rng)
            behind = await drained(subject, within_s=240.0)
            caught = (await subject.ledger(said)).lost + await standing_still(subject, workers, behind)
    assert caught, f"{ROUNDS * ROUND.kills} kills did nothing to {sum(len(each.messages) for each in said)} messages"


async def standing_still(subject: Subject, workers: list[WorkerProcess], behind: int) -> list[str]:
    """What nobody works on although there are workers: as many records are behind when nothing has moved for a while."""
    if not behind or not any(worker.running for worker in workers):
        return []
    later = await drained(subject, within_s=2 * subject.stuck_after_s)
    return [f"{behind} messages wait and nothing moves"] if later == behind else []
