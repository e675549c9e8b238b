"""No generated request makes a running API fail, with PostgreSQL, Qdrant's engine, Kafka and a curator behind it."""

import asyncio
import json
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings

from agents.api import generate
from schemas.access.keys import Grant
from schemas.kafka import topics
from schemas.policies.policies import Policies
from schemas.replay.generations import Generation, Plan
from sinks.postgres.connection import connect
from sinks.replay.generations import Generations
from tests.deployment import Deployment, Event, eventually
from tests.integration.conftest import Deploy
from tests.integration.pipeline.test_api import client, keys_of, serving

NAMESPACE = "app/ada"
TALK = {
    **{"conversation_id": "talk", "message_id": "talk-1", "role": "user", "content": "I play chess."},
    **{"app_id": "app", "user_id": "ada", "timestamp": "2026-11-01T12:00:00Z"},
}
DETAILS = {
    f"GET /v1/{each}"
    for each in (
        *("conversations/{conversation_id}", "consolidation-runs/{run_id}", "retention-sweeps/{sweep_id}"),
        *("generations/{generation_id}", "generations/{generation_id}/differences", "erasures/{erasure_id}"),
    )
}
EXAMPLES = 5  # of each operation
STREAM = "/v1/events"  # has no end
UNHURRIED = settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@schemathesis.serializer("application/x-ndjson")
def as_a_line(_context: Any, value: Any) -> bytes:
    return json.dumps(value).encode("utf-8", "replace") + b"\n"


async def a_generation(deployment: Deployment) -> str:
    """One that is built, of no conversations: what a replay by hand leaves behind."""
    now = datetime.now(UTC)
    plan = Plan(until=now, policies=Policies(), namespaces=NAMESPACE)
    pool = await connect(deployment.dsn, max_size=1)
    made = Generation(generation_id="0a1b2c3d", plan=plan, status="building", created_at=now, changed_at=now)
    await Generations(pool).begin(made, [])
    await Generations(pool).feeds(made.generation_id, [NAMESPACE])
    await Generations(pool).ready(made.generation_id, now)
    await pool.close()
    return made.generation_id


async def an_erasure(api: httpx.AsyncClient) -> str:
    """One that is complete: until then its receipt is answered with 202."""
    begun = (await api.post("/v1/users/purge", json={"user_id": "somebody-else"})).raise_for_status().json()
    erasure_id = str(begun["erasure_id"])

    async def complete() -> bool:
        return (await api.get(f"/v1/erasures/{erasure_id}")).status_code == 200

    await eventually(complete, "the erasure is complete")
    return erasure_id


async def stored(api: httpx.AsyncClient, body: dict[str, str]) -> dict[str, str]:
    """Returns the result of creating a memory, also if the worker gets its partitions only after the API stopped waiting."""
    answer = (await api.post("/v1/memories", json=body)).raise_for_status()

    async def result() -> dict[str, str] | None:
        later = await api.get(answer.headers["Location"]) if answer.status_code == 202 else answer
        return None if later.json()["status"] == "pending" else dict(later.json())

    return await eventually(result, "the memory is stored")


async def known(api: httpx.AsyncClient, deployment: Deployment) -> dict[str, str]:
    """Returns existing ids by parameter name; requests with unknown ids alone would find few errors."""
    body = {"namespace": NAMESPACE, "text": "User plays chess."}
    made = await stored(api, body)
    run = (await api.post("/v1/consolidation-runs", json={"namespace": NAMESPACE, "dry_run": True})).raise_for_status()
    sweep = (await api.post("/v1/retention-sweeps", json={"dry_run": True})).raise_for_status()
    await deployment.publish(Event(topics.MESSAGES, TALK["conversation_id"], TALK))

    async def is_known() -> bool:
        return (await api.get(f"/v1/conversations/{TALK['conversation_id']}")).status_code == 200

    await eventually(is_known, "the conversation is known")
    return {
        "generation_id": await a_generation(deployment),
        "erasure_id": await an_erasure(api),
        "memory_id": made["memory_id"],
        "conversation_id": TALK["conversation_id"],
        "run_id": run.json()["run_id"],
        "sweep_id": sweep.json()["sweep_id"],
        "command_id": made["command_id"],
        "namespace": NAMESPACE,
        "name": "app-notes",
        "q": "Who plays chess?",
    }


def about(case: schemathesis.Case, there: dict[str, str], chosen: Random) -> None:
    """Half of what a request names is made what there is."""
    for place in (case.path_parameters, case.query, case.body):
        if isinstance(place, dict):
            for name in place.keys() & there.keys():
                if chosen.random() < 0.5:
                    place[name] = there[name]


def responses_of(document: Any, address: str, token: str, there: dict[str, str]) -> list[tuple[str, int, str]]:
    """Operations, and what they answered; blocking."""
    answered: list[tuple[str, int, str]] = []
    headers, chosen = {"Authorization": f"Bearer {token}"}, Random(7)

    def ask(case: schemathesis.Case) -> None:
        about(case, there, chosen)
        answer = case.call(base_url=address, headers=headers, timeout=30)
        answered.append((case.operation.label, answer.status_code, answer.text))

    operations = schemathesis.openapi.from_dict(document).exclude(path=STREAM).get_all_operations()
    # Reads come first: an erasure removes what they would find.
    for operation in sorted((each.ok() for each in operations), key=lambda each: each.method.lower() != "get"):
        UNHURRIED(given(case=operation.as_strategy())(ask))()
    return answered


@pytest.mark.heavy
async def test_generated_requests_to_a_running_api_never_cause_a_server_error(deploy: Deploy) -> None:
    deployment: Deployment = await deploy("any-request", api_wait_s=2.0, api_requests_per_minute=1_000_000)
    tokens = await keys_of(deployment, everything=(Grant("admin", "*"),))
    await deployment.worker(stages=["windows", "archive", "curation"])
    async with serving(deployment) as (_, address), client(address, tokens["everything"]) as api:
        document = (await api.get("/v1/openapi.json")).raise_for_status().json()
        assert document == json.loads((Path(generate.TARGET) / generate.OPENAPI).read_bytes())
        answered = await asyncio.to_thread(
            responses_of, document, address, tokens["everything"], await known(api, deployment)
        )
        assert [each for each in answered if each[1] >= 500] == []
        assert {label for label, status, _ in answered if status == 200} >= DETAILS
        assert {status for _, status, _ in answered} > {200, 201, 404, 422}
        assert (await api.get("/health/ready")).status_code == 200
    assert "Traceback" not in deployment.logs()
