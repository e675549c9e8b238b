"""Two API processes stop serving removed memories within a second, even from caches."""

import asyncio
import time
from contextlib import AsyncExitStack
from typing import Any

import httpx
import pytest

from tests.deployment import eventually
from tests.integration.conftest import Deploy

NAMESPACE = "kitchen/ada"
WITHIN_S = 1.0
LOOKED_FOR_S = 10.0  # so that a failure tells how late it was
HEATED = 20


async def serves(api: httpx.AsyncClient, memory_id: str) -> bool:
    """Returns whether the API serves the memory, by its id or on a page."""
    response, page = await asyncio.gather(
        api.get(f"/v1/memories/{memory_id}"), api.get("/v1/memories", params={"namespace": NAMESPACE})
    )
    return response.status_code == 200 or any(each["memory_id"] == memory_id for each in page.json()["memories"])


async def gone_after_s(api: httpx.AsyncClient, memory_id: str, since: float) -> float:
    """Seconds until the last request for it that was served; it is asked for without a pause."""
    served, requested_at = since, time.monotonic()
    while await serves(api, memory_id):
        assert requested_at - since < LOOKED_FOR_S
        served, requested_at = requested_at, time.monotonic()
    return served - since


@pytest.mark.parametrize("way", ["delete", "purge"])
async def test_no_api_process_serves_a_deleted_memory_after_one_second(deploy: Deploy, way: str) -> None:
    deployment = await deploy("replicas")
    await deployment.worker(stages=["curation"])
    async with AsyncExitStack() as opened:
        addresses = await asyncio.gather(deployment.api("one"), deployment.api("other"))
        one, other = [
            await opened.enter_async_context(httpx.AsyncClient(base_url=each, timeout=30)) for each in addresses
        ]
        body = {"namespace": NAMESPACE, "text": "User owns three bicycles."}
        memory_id = (await one.post("/v1/memories", json=body)).raise_for_status().json()["memory_id"]

        async def hot() -> bool:
            return all([await serves(api, memory_id) for api in (one, other) for _ in range(HEATED)])

        await eventually(hot, "both serve it")
        (await deleted(one, way, memory_id)).raise_for_status()
        since = time.monotonic()
        late = await asyncio.gather(*(gone_after_s(api, memory_id, since) for api in (one, other)))
        assert max(late) < WITHIN_S


async def deleted(api: httpx.AsyncClient, way: str, memory_id: str) -> Any:
    if way == "delete":
        return await api.delete(f"/v1/memories/{memory_id}")
    return await api.delete("/v1/namespaces", params={"namespace": NAMESPACE})
