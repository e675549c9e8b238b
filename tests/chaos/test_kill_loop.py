"""kill -9 at random moments while conversations flow: memstream's ledger is clean, and stock Faust's is not."""

import random
import time
from pathlib import Path

import pytest

from deploy.embedded.stack import EmbeddedStack
from tests.chaos.conversations import Conversation, conversations
from tests.chaos.kill_loop import Plan, attack, run, two_workers
from tests.chaos.stock import Stock
from tests.chaos.subject import drained

ROUNDS = 5
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
async def test_the_same_harness_catches_stock_faust_losing_messages(embedded_stack: EmbeddedStack, tmp_path: Path):
    """A kill loop that finds nothing here would find nothing in memstream either."""
    rng = random.Random()
    subject = await Stock.prepared(embedded_stack, f"stock{int(time.time())}", tmp_path)
    said: list[Conversation] = []
    lost: list[str] = []
    async with two_workers(subject) as workers:
        while not lost and len(said) < ROUNDS * ROUND.conversations:
            more = conversations(ROUND.conversations, ROUND.lengths, rng, first=len(said))
            said += more
            await attack(ROUND, subject, workers, more, rng)
            await drained(subject, within_s=240.0)
            lost = (await subject.ledger(said)).lost
    assert lost, f"{ROUNDS * ROUND.kills} kills lost nothing of {sum(len(each.messages) for each in said)} messages"
