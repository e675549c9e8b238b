"""Live events of two API processes arrive once and in order, also when a process is killed."""

import asyncio
from contextlib import AsyncExitStack, aclosing
from pathlib import Path
from typing import Any

import pytest

from deploy.samples.memstream_client import Event, Memstream
from schemas.kafka import topics
from tests.builders.proposals import command, curated
from tests.chaos.workers import ApiProcess
from tests.deployment import Deployment
from tests.deployment import Event as Published

NAMESPACE = "kitchen/ada"
WITHIN_S = 60


class Replicas:
    """API processes of a deployment, by number, and clients of them."""

    def __init__(self, deployment: Deployment, directory: Path, resources: AsyncExitStack) -> None:
        self._settings = deployment.settings
        self._directory = directory
        self._resources = resources

    async def start(self, number: int) -> tuple[ApiProcess, Memstream]:
        started = ApiProcess(f"api-{number}", self._settings, self._directory)
        started.start()
        self._resources.callback(started.kill)
        await started.wait_ready()
        return started, await self._resources.enter_async_context(Memstream(started.ready_text))


async def take(client: Memstream, after: str | None, count: int) -> list[Event]:
    """The next events, with a new connection."""
    found: list[Event] = []
    async with asyncio.timeout(WITHIN_S), aclosing(client.events(NAMESPACE, after=after, since="beginning")) as events:  # type: ignore[type-var]
        async for event in events:
            found.append(event)
            if len(found) == count:
                return found
    raise AssertionError("a stream of events does not end")


async def published(deployment: Deployment) -> list[tuple[int, str]]:
    """Returns sequence and change of each event in `memory.events`, once."""
    values = [each["data"] for each in await deployment.values(topics.EVENTS)]
    return sorted({(data["sequence"], data["change"]) for data in values if data["namespace"] == NAMESPACE})


def created(number: int) -> Published:
    return command("create", NAMESPACE, text=f"User has read book number {number}.")


@pytest.mark.heavy
async def test_a_follower_misses_and_repeats_nothing_while_processes_die_and_namespaces_are_erased(
    deploy: Any, tmp_path: Path
) -> None:
    deployment = await deploy("live")
    await deployment.worker(stages=["curation"])
    async with AsyncExitStack() as resources:
        replicas = Replicas(deployment, tmp_path, resources)
        (first, one), (_, other) = await replicas.start(1), await replicas.start(2)
        await deployment.publish(*map(created, range(20)))
        begun = await take(one, None, 7)
        first.kill()
        went_on = await take(other, begun[-1].position, 8)
        await deployment.publish(*map(created, range(20, 25)))
        rest = await take(other, went_on[-1].position, 10)
        await curated(deployment)  # streams read PostgreSQL, which knows of a change before Kafka does
        changes = [(event.sequence, event.change) for event in (*begun, *went_on, *rest)]
        assert changes == await published(deployment) == [(number, "created") for number in range(1, 26)]

        await deployment.publish(command("purge", NAMESPACE))
        (erased,) = await take(other, rest[-1].position, 1)
        assert (erased.erased, erased.sequence) == (True, 50), (
            "each of the 25 memories has an event of its own in Kafka"
        )
        await curated(deployment)  # what is said while a namespace is being erased is older than its erasure
        await deployment.publish(created(99))
        late = await take(other, begun[-1].position, 2)
        assert [(event.change, event.sequence) for event in late] == [("erased", 50), ("created", 51)]
