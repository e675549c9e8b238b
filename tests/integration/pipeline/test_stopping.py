"""On shutdown a worker and the API finish current work and leave, and others take over at once, on a real broker."""

import asyncio
import signal
import time
from pathlib import Path
from typing import Any

import httpx
from pydantic import SecretStr

from deploy.embedded.ports import free_port
from schemas.kafka import topics
from streams.kafka.topics import STAGES
from tests.builders.chat_events import talk
from tests.deployment import eventually, without_shared_calls
from tests.servers.messages import KEY, MODELS, MessagesServer

SESSION_S = 120.0  # who waits for that to end has not been told that anybody left


async def test_a_stopping_worker_finishes_its_model_call_and_hands_over_its_partitions_at_once(
    deploy: Any, tmp_path: Path
):
    async with MessagesServer() as server:
        server.script("held")
        asking = {"provider": "claude", "claude_model": MODELS[0], "anthropic_base_url": server.url}
        secret: dict[str, Any] = {"anthropic_api_key": SecretStr(KEY)}
        secret["policies_file"] = without_shared_calls(tmp_path)
        deployment = await deploy("stopping", session_timeout_s=SESSION_S, stop_s=20.0, **asking, **secret)
        first = await deployment.worker("first", metrics_port=(port := free_port()))
        await deployment.publish(*talk("c", "I am allergic to peanuts.", app_id="a", user_id="u"))

        async def model_was_called() -> bool:
            return bool(server.seen)

        await eventually(model_was_called, "the model is asked")
        first.send(signal.SIGTERM)
        async with httpx.AsyncClient() as client:

            async def not_ready() -> bool:
                return (await client.get(f"http://127.0.0.1:{port}/health/ready")).status_code == 503

            await eventually(not_ready, "it says that it stops, while it finishes")
        server.let_go()
        await eventually(lambda: _ended(first), "the first worker has ended", 30.0)
        assert first.exit_code == 0
        assert len(await deployment.records(topics.CANDIDATES)) == 1  # published by it: nobody else was there
        began = time.monotonic()
        await deployment.worker("second")
        await deployment.settled()
        assert time.monotonic() - began < SESSION_S / 2
        assert len(server.seen) == 1
        assert await deployment.count("memories") == 1


async def _ended(worker: Any) -> bool:
    return not worker.running


async def test_a_call_not_finished_before_the_stop_timeout_is_left_to_the_next_worker(deploy: Any, tmp_path: Path):
    async with MessagesServer() as server:
        server.script("slow", "slow")
        asking = {"provider": "claude", "claude_model": MODELS[0], "anthropic_base_url": server.url}
        alone, secret = without_shared_calls(tmp_path), SecretStr(KEY)
        deployment = await deploy("unfinished", stop_s=1.0, policies_file=alone, anthropic_api_key=secret, **asking)
        worker = await deployment.worker(stages=STAGES)
        await deployment.publish(*talk("c", "I am allergic to peanuts.", app_id="a", user_id="u"))

        async def model_was_called() -> bool:
            return bool(server.seen)

        await eventually(model_was_called, "the model is asked")
        assert await worker.stop() == 0
        assert "1 record unfinished after 1 s" in deployment.logs()
        assert await deployment.records(topics.CANDIDATES) == []
        assert (await deployment.lags())["extraction"] > 0


async def test_a_stopping_api_finishes_requests_in_progress_and_accepts_no_new_ones(deploy: Any):
    """Its worker is away, so that a change waits; meanwhile it is told to stop."""
    deployment = await deploy("api-stopping", api_wait_s=3.0)
    address = await deployment.api()
    (api,) = deployment._workers
    async with httpx.AsyncClient(base_url=address, timeout=30) as client, httpx.AsyncClient(base_url=address) as probe:
        assert (await probe.get("/health/ready")).status_code == 200
        asking = asyncio.create_task(
            client.post("/v1/memories", json={"namespace": "a/u", "text": "User plays chess."})
        )

        async def published() -> bool:
            return bool(await deployment.records(topics.COMMANDS))

        await eventually(published, "the command is published")
        api.send(signal.SIGTERM)
        assert (await asking).status_code == 202
    assert await api.stop() == 0
