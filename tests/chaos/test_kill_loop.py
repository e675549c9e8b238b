"""kill -9 at ten random moments while five hundred conversations flow: the ledger must be clean."""

import random
from pathlib import Path

import pytest

from deploy.embedded.stack import EmbeddedStack
from tests.chaos.kill_loop import Plan, run


@pytest.mark.heavy
async def test_killing_workers_at_ten_random_moments_loses_and_doubles_nothing(
    embedded_stack: EmbeddedStack, tmp_path: Path
):
    plan = Plan(seed=random.randrange(1_000_000), kills=10, conversations=500)
    result = await run(plan, embedded_stack, tmp_path)
    assert (result.lost, result.duplicated, result.final_lag) == (0, 0, 0), result
    assert len(result.backlogs) == 10
    assert all(result.backlogs), "a kill hit an idle system and proves nothing"
