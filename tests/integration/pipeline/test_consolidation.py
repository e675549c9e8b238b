"""A night's consolidation whose leader is killed as its moment comes: another worker makes the run, once, and counts it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from schemas import topics
from tests.deployment import Deployment, Event, eventually
from tests.integration.conftest import Deploy

POLICY = """
name: nightly
match: {app_id: app}
triggers:
  on_end: false
  schedule: {at: "02:00"}
"""
CONVERSATIONS = 12


def said(conversation: str) -> Event:
    value = {"conversation_id": conversation, "message_id": f"{conversation}-1", "role": "user", "app_id": "app"}
    value |= {"user_id": conversation, "timestamp": "2026-03-01T10:00:00Z", "content": "I am allergic to peanuts."}
    return Event(topics.MESSAGES, conversation, value)


async def leader(deployment: Deployment) -> str:
    ((row),) = await deployment.fetch("SELECT owner FROM leaders WHERE role = 'scheduler'")
    owner: str = row["owner"]
    return owner


async def run_when(deployment: Deployment, holds: Callable[[dict[str, Any]], bool], what: str) -> dict[str, Any]:
    """The one run of the schedule, once it is so."""

    async def found() -> dict[str, Any] | None:
        rows = await deployment.fetch("SELECT * FROM consolidation_runs")
        assert len(rows) <= 1, "one moment has one run"
        return rows[0] if rows and holds(rows[0]) else None

    run = await eventually(found, what)
    assert run is not None
    return run


@pytest.mark.heavy
async def test_a_leader_that_is_killed_takes_no_run_with_it(deploy: Deploy, tmp_path: Path):
    (tmp_path / "policies.yaml").write_text(POLICY)
    deployment = await deploy("night", policies_file=tmp_path / "policies.yaml")
    await deployment.worker("others", stages=("windows", "archive", "curation"))
    first = await deployment.worker("first", stages=("extraction",))
    led = await eventually(lambda: leader(deployment), "the first one leads")
    await deployment.worker("second", stages=("extraction",))
    await deployment.publish(*(said(f"c{number}") for number in range(CONVERSATIONS)))

    async def known() -> bool:
        windows = await deployment.fetch("SELECT 1 FROM windows WHERE statistics ->> 'total_messages' = '1'")
        return len(windows) == CONVERSATIONS and await deployment.count("messages") == CONVERSATIONS

    await eventually(known, "all that was said is known")
    assert await leader(deployment) == led
    first.kill()
    deployment.forget(first)
    await deployment.fetch("UPDATE consolidation_schedules SET next_due = now() RETURNING 1")

    run = await run_when(deployment, lambda run: run["status"] == "completed", "the run is over")
    assert await leader(deployment) != led
    assert (run["trigger"], run["missed"], run["processed"]) == ("schedule", 0, CONVERSATIONS)
    assert (run["created"], run["failed_requests"]) == (CONVERSATIONS, 0)
    assert await deployment.count("memories") == CONVERSATIONS
