"""The command line waits for a sweep with time limits for its start and its end."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest
from msgspec.structs import replace

from agents.retention.sweeper import manual_sweep
from deploy.cli.retention import POLL_S, show, wait_for_sweep
from schemas.errors import Misconfigured
from tests.fakes.runs import FakeSweeps

SWEEP = manual_sweep(False, "ada", datetime(2026, 6, 1, 12, tzinfo=UTC))


class Waiting:
    """At each look the sweep is in the next of these statuses, and stays in the last one."""

    def __init__(self, *statuses: Any) -> None:
        self.sweeps = FakeSweeps()
        self.statuses: Sequence[Any] = statuses
        self.waited_s = 0.0

    async def sleep(self, pause_s: float) -> None:
        at = min(round(self.waited_s / POLL_S), len(self.statuses) - 1)
        self.waited_s += pause_s
        self.sweeps.by_id[SWEEP.sweep_id] = replace(SWEEP, status=self.statuses[at])


async def test_the_command_waits_until_the_sweep_is_over():
    waiting = Waiting("pending", "running", "running", "completed")
    done = await wait_for_sweep(waiting.sweeps, SWEEP, 60, waiting.sleep)
    assert (done.status, waiting.waited_s) == ("completed", 4 * POLL_S)


async def test_a_sweep_that_completes_at_the_last_poll_counts_as_completed():
    waiting = Waiting("running", "completed")
    assert (await wait_for_sweep(waiting.sweeps, SWEEP, 2 * POLL_S, waiting.sleep)).status == "completed"


@pytest.mark.parametrize(
    ("status", "waited_s", "text"),
    [("pending", 30, "start a worker with the stage archive"), ("running", 60, "not ended within 60 s.* --wait")],
)
async def test_a_sweep_that_does_not_complete_in_time_raises_with_an_explanation(
    status: str, waited_s: float, text: str
):
    waiting = Waiting(status)
    with pytest.raises(Misconfigured, match=text):
        await wait_for_sweep(waiting.sweeps, SWEEP, 60, waiting.sleep)
    assert waiting.waited_s == waited_s


@pytest.mark.parametrize(("status", "so_far"), [("running", True), ("completed", False)])
def test_statistics_of_an_unfinished_sweep_are_labelled_as_preliminary(
    status: Any, so_far: bool, capsys: pytest.CaptureFixture[str]
):
    show(replace(SWEEP, status=status))
    assert ("its numbers so far" in capsys.readouterr().out) is so_far
