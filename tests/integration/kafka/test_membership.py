"""Which stages stay in their consumer groups on a real broker, and how a worker notices that one does not."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from aiokafka import AIOKafkaProducer
from aiokafka.consumer.group_coordinator import GroupCoordinator
from aiokafka.consumer.subscription_state import SubscriptionState
from aiokafka.errors import GroupAuthorizationFailedError

from agents.stage.loop import serve
from deploy.embedded.stack import EmbeddedStack
from schemas.kafka import topics
from streams.apps import input_channel, stage_app
from streams.delivery.app import StageApp
from streams.delivery.batch import Batch
from streams.delivery.fence import Phase
from streams.kafka.cluster import ClusterSettings
from streams.kafka.topics import TopicSettings, create, specs
from tests.deployment import eventually

A_DAY_S = 86_400.0
RECORDS = 100  # of which an agent takes 8 at a time: more than the stage's buffer holds


class Group:
    """Workers of one stage whose input has one partition. Their agents wait until `served` is set."""

    def __init__(self, bootstrap_servers: str, directory: Path) -> None:
        self._directory = directory
        self.bootstrap_servers = bootstrap_servers
        self.names = TopicSettings(prefix=f"g{uuid4().hex[:8]}-", conversation_partitions=1)
        self.apps: list[StageApp] = []
        self.served = asyncio.Event()
        self.values: set[bytes] = set()

    async def join(self) -> StageApp:
        """A further worker, with its first epoch."""
        cluster = ClusterSettings(
            bootstrap_servers=self.bootstrap_servers,
            datadir=self._directory / str(len(self.apps)),
            heartbeat_interval_s=0.2,
        )
        app = stage_app("extraction", cluster, self.names, {})
        serve(app, input_channel(app, "extraction", self.names), self._handle)
        app.finalize()
        self.apps.append(app)
        await app.start()
        await eventually(lambda: begun(app, 1), "the worker has joined", 60)
        return app

    async def _handle(self, batch: Batch) -> None:
        await self.served.wait()
        self.values |= {record.value for record in batch.records}
        batch.ack()


async def begun(app: StageApp, epoch: int) -> bool:
    return app.fence.phase is Phase.OPEN and app.fence.epoch >= epoch


@pytest.fixture
async def group(embedded_stack: EmbeddedStack, tmp_path: Path) -> AsyncIterator[Group]:
    group = Group(embedded_stack.broker.bootstrap_servers, tmp_path)
    await create({"bootstrap_servers": group.bootstrap_servers}, specs(group.names), 1)
    yield group
    group.served.set()
    await asyncio.gather(*(app.stop() for app in group.apps))


async def test_a_blocked_worker_and_one_without_partitions_take_part_in_rebalances_after_a_day_without_a_fetch(
    group: Group, monkeypatch: pytest.MonkeyPatch
):
    values = {b"%d" % number for number in range(RECORDS)}
    async with AIOKafkaProducer(bootstrap_servers=group.bootstrap_servers) as producer:
        for value in values:
            await producer.send(group.names.physical(topics.REQUESTS), value)
    blocked, spare = await group.join(), await group.join()
    monkeypatch.setattr(SubscriptionState, "fetcher_idle_time", property(lambda _: A_DAY_S))
    before = [app.fence.epoch for app in (blocked, spare)]
    await group.join()

    async def rejoined() -> bool:
        return await begun(blocked, before[0] + 1) and await begun(spare, before[1] + 1)

    await eventually(rejoined, "both have rejoined", 30)
    group.served.set()

    async def all_processed() -> bool:
        return group.values == values

    await eventually(all_processed, "the records are processed", 30)


async def test_an_error_that_ends_the_membership_is_raised_with_its_cause(
    group: Group, monkeypatch: pytest.MonkeyPatch
):
    app = await group.join()
    app.check_membership()

    async def refused(coordinator: Any) -> bool:
        raise GroupAuthorizationFailedError(coordinator.group_id)

    monkeypatch.setattr(GroupCoordinator, "_do_heartbeat", refused)

    async def raised() -> bool:
        try:
            app.check_membership()
        except RuntimeError as exc:
            return isinstance(exc.__cause__, GroupAuthorizationFailedError) and app.conf.id in str(exc)
        return False

    await eventually(raised, "the error is raised", 30)
