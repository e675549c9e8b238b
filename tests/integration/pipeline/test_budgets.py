"""A worker with a budget calls a local Messages server: requests over the budget wait, and usage is reported."""

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from schemas.kafka import topics
from tests.budget_day import begin_tomorrow
from tests.builders.chat_events import talk
from tests.command_line import lines, run
from tests.deployment import Deployment, Event, eventually
from tests.servers.messages import KEY, MODELS, MessagesServer
from tests.servers.scripted import in_a_thread

CONVERSATIONS = 5
PRICES = {
    "as_of": "2026-01-01",
    "source": "made up",
    "models": [{"model": MODELS[0], "input": 1, "output": 5, "cache_write": 1.25, "cache_read": 0.1}],
}


@pytest.fixture(scope="module")
def server() -> Iterator[MessagesServer]:
    with in_a_thread(MessagesServer()) as serving:
        yield serving


def chat(number: int) -> list[Event]:
    """One conversation of a user of its own, and its end."""
    return talk(f"budgeted-{number}", "I am allergic to peanuts.", app_id="kitchen", user_id=f"user-{number}")


@pytest.fixture
async def deployment(deploy: Any, server: MessagesServer, tmp_path: Path) -> Deployment:
    """Asks one question at a time, and one spends the day's budget."""
    (tmp_path / "prices.json").write_text(json.dumps(PRICES))
    made = await deploy(
        "budgets",
        provider="claude",
        claude_model=MODELS[0],
        claude_compaction_model=MODELS[0],
        anthropic_base_url=server.url,
        anthropic_api_key=SecretStr(KEY),
        extraction_concurrency=1,
        prices_file=tmp_path / "prices.json",
        budget={"usd_per_day": 0.000001},
    )
    await begin_tomorrow(made.dsn)
    return made


async def count(deployment: Deployment, rows: str) -> int:
    ((number,),) = [row.values() for row in await deployment.fetch(f"SELECT count(*) FROM {rows}")]
    return int(number)


async def answered_and_parked(deployment: Deployment, answered: int) -> bool:
    """Whether so many are answered, booked and told of, and the others wait for the budget."""
    parked = await count(deployment, "parked WHERE reason = 'budget' AND lease_owner IS NULL")
    counted = await count(deployment, "model_usage WHERE outcome = 'answered' AND told")
    return (counted, parked) == (answered, CONVERSATIONS - answered)


async def assert_usage_is_published(deployment: Deployment, directory: Path) -> None:
    """Checks the usage record of the single call in PostgreSQL, as an event, and on the command line."""
    (row,) = await deployment.fetch("SELECT operation, lane, outcome, cost_micros, request_id FROM model_usage")
    assert (row["operation"], row["lane"], row["outcome"]) == ("extract", "live", "answered")
    assert row["cost_micros"] > 0
    activity = await deployment.values(topics.ACTIVITY)
    (usage_event,) = [event["data"] for event in activity if event["type"] == "memstream.usage.recorded"]
    assert (usage_event["cost_micros"], usage_event["request_id"]) == (row["cost_micros"], row["request_id"])
    usage, budget = lines(run(deployment.settings, directory, "usage", "--json"))
    assert (usage["answered"], usage["cost_micros"]) == (1, row["cost_micros"])
    assert budget["remains"] < 0 < budget["spent"]


async def next_day(deployment: Deployment) -> None:
    """Moves usage to yesterday, and makes waiting requests due."""
    await deployment.fetch("UPDATE energy SET day = day - interval '2 days', hour = hour - interval '2 days'")
    await deployment.fetch("UPDATE parked SET not_before = clock_timestamp()")


async def test_calls_stop_at_the_budget_and_remaining_requests_are_parked(
    deployment: Deployment, server: MessagesServer, tmp_path: Path
) -> None:
    await deployment.worker()
    await deployment.publish(*(event for number in range(CONVERSATIONS) for event in chat(number)))
    await eventually(partial(answered_and_parked, deployment, 1), "one is answered, and the rest waits", within_s=120)
    assert len(server.seen) == 1
    assert await count(deployment, "energy_reservations") == 0
    midnight = "parked WHERE not_before = date_trunc('day', not_before, 'UTC')"
    assert await count(deployment, midnight) == CONVERSATIONS - 1
    await assert_usage_is_published(deployment, tmp_path)

    await next_day(deployment)
    await eventually(partial(answered_and_parked, deployment, 2), "one more is answered the next day", within_s=120)
    assert len(server.seen) == 2
    assert await count(deployment, "energy_reservations") == 0
