"""A worker with a budget that asks Claude, here a local Messages server: what finds no room waits, what was consumed is told."""

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from schemas.kafka import topics
from tests.command_line import lines, run
from tests.deployment import Event, eventually
from tests.long_day import begin_tomorrow
from tests.messages_server import KEY, MODELS, MessagesServer
from tests.scripted_server import in_a_thread

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
    conversation = f"budgeted-{number}"
    said = {
        "conversation_id": conversation,
        "message_id": f"{conversation}-1",
        "role": "user",
        "timestamp": "2026-11-01T10:00:00Z",
        "content": "I am allergic to peanuts.",
        "app_id": "kitchen",
        "user_id": f"user-{number}",
    }
    end = {"conversation_id": conversation, "timestamp": "2026-11-01T10:01:00Z", "message_count": 1}
    return [Event(topics.MESSAGES, conversation, said), Event(topics.ENDED, conversation, end)]


async def test_calls_end_where_the_budget_does_and_the_rest_is_parked(
    deploy: Any, server: MessagesServer, tmp_path: Path
) -> None:
    (tmp_path / "prices.json").write_text(json.dumps(PRICES))
    deployment = await deploy(
        "budgets",
        provider="claude",
        claude_model=MODELS[0],
        claude_compaction_model=MODELS[0],
        anthropic_base_url=server.url,
        anthropic_api_key=SecretStr(KEY),
        extraction_concurrency=1,
        prices_file=tmp_path / "prices.json",
        # One call spends it.
        budget={"usd_per_day": 0.000001},
    )
    await begin_tomorrow(deployment.dsn)
    await deployment.worker()
    await deployment.publish(*(event for number in range(CONVERSATIONS) for event in chat(number)))

    async def count(statement: str) -> int:
        ((number,),) = [row.values() for row in await deployment.fetch(statement)]
        return int(number)

    async def rest_is_parked() -> bool:
        parked = await count("SELECT count(*) FROM parked WHERE reason = 'budget'")
        return parked == CONVERSATIONS - 1 and await count("SELECT count(*) FROM model_usage WHERE told") == 1

    await eventually(rest_is_parked, "one call is booked and told, and the rest waits for the budget", within_s=120)
    assert len(server.seen) == 1
    assert await count("SELECT count(*) FROM energy_reservations") == 0
    midnight = "SELECT count(*) FROM parked WHERE not_before = date_trunc('day', not_before, 'UTC')"
    assert await count(midnight) == CONVERSATIONS - 1
    (row,) = await deployment.fetch("SELECT operation, lane, outcome, cost_micros, request_id FROM model_usage")
    assert (row["operation"], row["lane"], row["outcome"]) == ("extract", "live", "answered")
    assert row["cost_micros"] > 0
    (told,) = [
        event
        for record in await deployment.records(topics.ACTIVITY)
        if (event := json.loads(record.value))["type"] == "memstream.usage.recorded"
    ]
    assert (told["data"]["cost_micros"], told["data"]["request_id"]) == (row["cost_micros"], row["request_id"])
    shown = lines(partial(run, deployment.settings, tmp_path)("usage", "--json"))
    usage, budget = shown
    assert (usage["answered"], usage["cost_micros"]) == (1, row["cost_micros"])
    assert budget["remains"] < 0 < budget["spent"]

    # The day after has come: what is spent is yesterday's, and what waited for it goes on, one call a day.
    await deployment.fetch("UPDATE energy SET day = day - interval '2 days', hour = hour - interval '2 days'")
    await deployment.fetch("UPDATE parked SET not_before = clock_timestamp()")

    async def one_more_is_answered() -> bool:
        return await count("SELECT count(*) FROM model_usage WHERE outcome = 'answered'") == 2

    await eventually(one_more_is_answered, "a parked request is answered the next day", within_s=120)

    async def the_rest_waits_again() -> bool:
        waiting = "SELECT count(*) FROM parked WHERE reason = 'budget' AND lease_owner IS NULL"
        return await count(waiting) == CONVERSATIONS - 2 == await count("SELECT count(*) FROM parked")

    await eventually(the_rest_waits_again, "the others wait for another day", within_s=120)
    assert len(server.seen) == 2
    assert await count("SELECT count(*) FROM energy_reservations") == 0
