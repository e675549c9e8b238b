"""The API as a process with keys beside a worker, used by a plain client."""

import asyncio
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import httpx

from agents.api.http.json_bodies import MAX_BODY_BYTES
from schemas.access.keys import Grant
from schemas.kafka import topics
from sinks.access.keys import Keys
from sinks.postgres.connection import connect
from tests.chaos.workers import ApiProcess
from tests.deployment import Deployment, Event, eventually

ADMIN, READER = (Grant("admin", "app/*"),), (Grant("read", "app/ada"),)


async def keys_of(deployment: Deployment, **grants: tuple[Grant, ...]) -> dict[str, str]:
    pool = await connect(deployment.dsn, max_size=1)
    now = datetime.now(UTC)
    tokens = {name: (await Keys(pool).create(name, each, now, "the test"))[0] for name, each in grants.items()}
    await pool.close()
    return tokens


@asynccontextmanager
async def serving(deployment: Deployment, *arguments: str) -> AsyncIterator[tuple[ApiProcess, str]]:
    """A process and its address."""
    process = ApiProcess("api", deployment.settings, deployment.directory, arguments)
    process.start()
    try:
        await process.wait_ready()
        yield process, process.ready_text
    finally:
        if process.running:
            await process.stop()


def client(address: str, token: str | None = None) -> httpx.AsyncClient:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return httpx.AsyncClient(base_url=address, headers=headers, timeout=30)


async def test_body_size_and_request_rate_limits_are_enforced(deploy: Any):
    deployment = await deploy("limits", api_requests_per_minute=1)
    async with client(await deployment.api()) as anybody:
        large = await anybody.post("/v1/search", json={"namespaces": ["app/ada"], "text": "x" * MAX_BODY_BYTES})
        assert (large.status_code, large.json()["detail"]) == (413, "the body exceeds the limit of 1,048,576 bytes")
        listed = [await anybody.get("/v1/memories", params={"namespace": "app/ada"}) for _ in range(2)]
        assert listed[-1].status_code == 429
        assert 50 <= int(listed[-1].headers["retry-after"]) <= 61


async def test_a_memory_is_created_and_deleted_over_http_and_changes_are_published(deploy: Any):
    deployment = await deploy("api")
    tokens = await keys_of(deployment, chat=ADMIN, reader=READER)
    await deployment.worker()
    async with serving(deployment) as (_, address), client(address, tokens["chat"]) as chat:
        assert (await chat.get("/health/ready")).status_code == 200
        made = await chat.post("/v1/memories", json={"namespace": "app/ada", "text": "User plays chess."})
        assert made.status_code == 201, made.text
        where = made.headers["location"]
        assert (await chat.get(where)).json()["text"] == "User plays chess."
        async with client(address, tokens["reader"]) as reader:
            listed = (await reader.get("/v1/memories", params={"namespace": "app/ada"})).json()
            assert [memory["text"] for memory in listed["memories"]] == ["User plays chess."]
            assert (await reader.delete(where)).status_code == 403
        async with client(address) as stranger:
            assert (await stranger.get(where)).status_code == 401
        versions = (await chat.get(f"{where}/versions")).json()["versions"]
        assert versions[0]["cause"]["actor"].startswith("chat (")
        assert (
            await chat.patch(where, json={"text": "User plays go."}, headers={"If-Match": '"1"'})
        ).status_code == 200
        assert (await chat.delete(where, headers={"If-Match": '"1"'})).status_code == 412
        assert (await chat.delete(where)).status_code == 200
        assert (await chat.get(where)).status_code == 404
        assert (await chat.delete("/v1/namespaces", params={"namespace": "app/ada"})).json()["change"] == "purged"
        assert (await chat.get(f"{where}/versions")).status_code == 404
        changes = [event["data"]["change"] for event in await deployment.values(topics.EVENTS)]
        assert changes == ["created", "updated", "deleted", "purged"]


async def test_commands_from_kafka_and_slow_commands_report_their_outcome_over_http(deploy: Any):
    deployment = await deploy("api-commands", api_wait_s=0.3)
    tokens = await keys_of(deployment, chat=ADMIN)
    async with serving(deployment) as (_, address), client(address, tokens["chat"]) as chat:
        late = await chat.post("/v1/memories", json={"namespace": "app/ada", "text": "User plays chess."})
        assert (late.status_code, late.json()["status"]) == (202, "pending")
        command = {"command_id": "k1", "kind": "delete", "namespace": "app/ada", "at": "2026-03-01T12:00:00Z"}
        await deployment.publish(Event(topics.COMMANDS, "app/ada", command | {"memory_id": "nobody"}))
        await deployment.worker(start_from="earliest")

        async def settled(path: str) -> Any:
            body = (await chat.get(path)).json()
            return None if body["status"] == "pending" else body

        made = await eventually(lambda: settled(late.headers["location"]), "the late command is carried out")
        assert (made["status"], made["memory"]["text"]) == ("accepted", "User plays chess.")
        refused = await eventually(lambda: settled("/v1/commands/k1?namespace=app/ada"), "the other one too")
        assert (refused["status"], "no memory nobody" in refused["reason"]) == ("rejected", True)


async def test_a_revoked_key_is_rejected_soon_and_its_last_use_is_recorded(deploy: Any):
    deployment = await deploy("api-keys")
    tokens = await keys_of(deployment, chat=ADMIN)
    async with serving(deployment) as (_, address), client(address, tokens["chat"]) as chat:
        listing = {"namespace": "app/ada"}
        assert (await chat.get("/v1/memories", params=listing)).status_code == 200
        pool = await connect(deployment.dsn, max_size=1)
        await Keys(pool).revoke("chat", datetime.now(UTC), "the test")

        async def refused() -> bool:
            return (await chat.get("/v1/memories", params=listing)).status_code == 401

        await eventually(refused, "the key is refused without a restart", within_s=30)
    (key,) = await Keys(pool).all()
    assert key.last_used_at is not None
    await pool.close()


async def test_without_keys_the_api_rejects_foreign_host_headers(deploy: Any):
    deployment = await deploy("api-open")
    async with serving(deployment, "--no-keys") as (_, address), client(address) as anybody:
        assert (await anybody.get("/v1/memories", params={"namespace": "app/ada"})).json() == {"memories": []}
        foreign = await anybody.get("/health/live", headers={"Host": "evil.example"})
        assert foreign.status_code == 421


async def test_requests_in_progress_are_answered_before_the_api_stops(deploy: Any):
    deployment = await deploy("api-end", api_wait_s=2.0)
    tokens = await keys_of(deployment, chat=ADMIN)
    async with serving(deployment) as (process, address), client(address, tokens["chat"]) as chat:
        body = {"namespace": "app/ada", "text": "User plays chess."}
        waiting = asyncio.create_task(chat.post("/v1/memories", json=body))  # nobody is there to carry it out

        async def sent() -> bool:
            return bool(await deployment.values(topics.COMMANDS))

        await eventually(sent, "the command is sent")
        process.send(signal.SIGTERM)
        assert (await waiting).status_code == 202
        assert await process.stop() == 0
