"""A deployment with all presets, one worker and an API; each preset has an app of its name."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack

import httpx
import pytest

from agents.policies.changes import StoredPolicies, records
from deploy.cli.policies import policies_to_put
from deploy.embedded.stack import EmbeddedStack
from deploy.policies.files import presets
from deploy.wiring.policy_store import plan_changes
from tests.deployment import Deployment, Event, deployed


@pytest.fixture(scope="session")
def engine(embedded_stack: EmbeddedStack, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    directory = tmp_path_factory.mktemp("presets")
    few = {"conversation_partitions": 2, "namespace_partitions": 2}
    with asyncio.Runner() as runner:
        made = AsyncExitStack()
        try:
            deployment = runner.run(made.enter_async_context(deployed(embedded_stack, "presets", directory, **few)))
            wanted = [each for name in presets() for each in policies_to_put([], name, None, [f"app_id={name}*"])]
            published = records(plan_changes(wanted, StoredPolicies({}, {}, {})))
            events = [Event(each.topic, each.key.decode(), each.value) for each in published if each.key]
            runner.run(deployment.publish(*events))
            runner.run(deployment.worker())
            yield deployment
        finally:
            runner.run(made.aclose())


@pytest.fixture(scope="session")
def address(engine: Deployment) -> str:
    """Where the engine's API answers."""
    return asyncio.run(engine.api())


@pytest.fixture
async def api(address: str) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=address, timeout=60) as client:
        yield client
