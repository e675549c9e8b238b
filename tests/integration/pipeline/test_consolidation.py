"""Consolidation on the running pipeline: a leader killed when a run is due, and a run that uses a batch."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from pydantic import SecretStr

from tests.builders.chat_events import message
from tests.deployment import Deployment, Event, eventually
from tests.integration.conftest import Deploy
from tests.servers.messages import KEY, MODELS, MessagesServer
from tests.servers.scripted import in_a_thread

POLICY = """
name: nightly
match: {app_id: app}
triggers:
  on_end: false
  schedule: {at: "02:00"}
"""
CONVERSATIONS = 12
PRICE = {"input": 1.0, "output": 5.0, "cache_write": 1.25, "cache_read": 0.1}
PRICES = {"as_of": "2026-01-01", "source": "made up", "models": [{"model": MODELS[0]} | PRICE]}
BILLED = dict(
    zip(PRICE, ("input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"), strict=True)
)


def said(conversation: str) -> Event:
    text = "I am allergic to peanuts."
    return message(conversation, 1, text, at="2026-03-01T10:00:00Z", app_id="app", user_id=conversation)


async def leader(deployment: Deployment) -> str:
    """Empty while nobody leads."""
    rows = await deployment.fetch("SELECT owner FROM leaders WHERE role = 'scheduler'")
    return str(rows[0]["owner"]) if rows else ""


async def known(deployment: Deployment, conversations: int) -> None:
    """Waits until each conversation's one message is in the archive, and its window is known."""

    async def all_of_it() -> bool:
        windows = await deployment.fetch("SELECT 1 FROM windows WHERE statistics ->> 'total_messages' = '1'")
        return len(windows) == conversations and await deployment.count("messages") == conversations

    await eventually(all_of_it, "all that was said is known")


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
async def test_a_scheduled_run_completes_after_its_leader_is_killed(deploy: Deploy, tmp_path: Path):
    (tmp_path / "policies.yaml").write_text(POLICY)
    deployment = await deploy("night", policies_file=tmp_path / "policies.yaml")
    await deployment.worker("others", stages=("windows", "archive", "curation"))
    first = await deployment.worker("first", stages=("extraction",))
    led = await eventually(lambda: leader(deployment), "the first one leads")
    await deployment.worker("second", stages=("extraction",))
    await deployment.publish(*(said(f"c{number}") for number in range(CONVERSATIONS)))

    await known(deployment, CONVERSATIONS)
    assert await leader(deployment) == led
    first.kill()
    deployment.forget(first)
    await deployment.fetch("UPDATE consolidation_schedules SET next_due = now() RETURNING 1")

    run = await run_when(deployment, lambda run: run["status"] == "completed", "the run is over")
    assert await leader(deployment) != led
    assert (run["trigger"], run["missed"], run["processed"]) == ("schedule", 0, CONVERSATIONS)
    assert (run["created"], run["failed_requests"]) == (CONVERSATIONS, 0)
    assert await deployment.count("memories") == CONVERSATIONS


async def test_a_manual_run_is_sent_in_one_batch_and_reports_its_outcome_and_cost(deploy: Deploy, tmp_path: Path):
    conversations = 5
    (tmp_path / "policies.yaml").write_text(POLICY + "batch: true\n")
    (tmp_path / "prices.json").write_text(json.dumps(PRICES))
    with in_a_thread(MessagesServer()) as server:
        deployment = await deploy(
            "batched",
            policies_file=tmp_path / "policies.yaml",
            prices_file=tmp_path / "prices.json",
            provider="claude",
            claude_model=MODELS[0],
            anthropic_base_url=server.url,
            anthropic_api_key=SecretStr(KEY),
            batch_requests=conversations,  # handed in once they are together, however long that takes
            batch_poll_s=0.2,
        )
        await deployment.worker(paces={"deploy.wiring.model_stages.BATCHES_S": 0.2})
        await deployment.publish(*(said(f"c{number}") for number in range(conversations)))
        await known(deployment, conversations)
        async with httpx.AsyncClient(base_url=await deployment.api(), timeout=30) as client:
            response = await client.post("/v1/consolidation-runs", json={"policy": "nightly"})
            assert (response.status_code, response.json()["status"]) == (202, "pending")

            async def over() -> dict[str, Any] | None:
                run: dict[str, Any] = (await client.get(f"/v1/consolidation-runs/{response.json()['run_id']}")).json()
                return run if run["status"] in ("completed", "failed") else None

            run = await eventually(over, "the run is over")
        assert run is not None
    (batch,) = server.batches.made.values()
    assert (len(batch.requests), server.seen) == (conversations, []), "asked together, and none alone"
    assert (run["status"], run["error"], run["lane"]) == ("completed", None, "background")
    assert (run["conversations"], run["processed"], run["requests"]) == (conversations,) * 3
    assert (run["created"], run["failed_requests"], run["dropped"]) == (conversations, 0, 0)
    assert (run["providers"], run["models"]) == (["claude"], [MODELS[0]])
    assert run["tokens"] == sum(bill.usage[name] for bill in server.bills for name in BILLED.values()) > 0
    at_full_price = sum(PRICE[kind] * bill.usage[name] for bill in server.bills for kind, name in BILLED.items())
    assert run["cost_micros"] == pytest.approx(at_full_price / 2, abs=conversations), "each call rounded by itself"
    assert run["cost_usd"] == run["cost_micros"] / 1_000_000
    assert await deployment.count("memories") == conversations
