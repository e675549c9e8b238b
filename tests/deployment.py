"""A deployment for one test on a shared stack: topics under a prefix, a database, a Qdrant collection, workers."""

import asyncio
import json
import signal
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar
from uuid import uuid4

from aiokafka import AIOKafkaProducer
from aiokafka.admin import AIOKafkaAdminClient

from deploy.embedded.stack import EmbeddedStack
from deploy.settings import Settings
from sinks.passages.vectors import SUFFIX
from streams.kafka.topics import specs
from tests.chaos.workers import ApiProcess, WorkerProcess
from tests.deployment_data import Stores
from tests.preparation import PASSWORD, administer, prepared

T = TypeVar("T")


async def eventually(condition: Callable[[], Awaitable[T]], what: str, within_s: float = 60.0) -> T:
    """Waits until the condition returns a true value, and returns it. Fails after `within_s` seconds with `what`."""
    deadline = time.monotonic() + within_s
    while not (value := await condition()):
        assert time.monotonic() < deadline, f"not within {within_s:g} s: {what}"
        await asyncio.sleep(0.1)
    return value


def without_shared_calls(directory: Path) -> Path:
    """A policy file under which every slice gets its own model call."""
    path = directory / "without-shared-calls.json"
    path.write_text(json.dumps([{"name": "without-shared-calls", "share_wait_s": 0.0}]))
    return path


class Event(NamedTuple):
    """A record of a chat service: a dict is sent as JSON, bytes unchanged, None as a tombstone."""

    topic: str
    key: str
    value: Any
    headers: Sequence[tuple[str, bytes]] = ()

    @property
    def bytes(self) -> bytes | None:
        if self.value is None:
            return None
        return self.value if isinstance(self.value, bytes) else json.dumps(self.value).encode()


class Deployment(Stores):
    """A deployment with its settings. Workers write logs and data into `directory`."""

    def __init__(self, settings: Settings, directory: Path) -> None:
        super().__init__(settings)
        self.directory = directory
        self._workers: list[WorkerProcess] = []

    async def worker(self, name: str = "worker", **given: Any) -> WorkerProcess:
        """Starts a worker and waits until it is ready. It is stopped with the deployment at the latest."""
        worker = self.start_worker(name, **given)
        await worker.wait_ready()
        return worker

    def start_worker(
        self,
        name: str = "worker",
        *,
        stages: Iterable[str] = (),
        paces: Mapping[str, float] = MappingProxyType({}),
        **settings: Any,
    ) -> WorkerProcess:
        """Starts a worker without waiting for it. `paces` as in tests.chaos.preloaded.ForkedCommand."""
        worker = WorkerProcess(name, self.settings.model_copy(update=settings), self.directory, stages, paces)
        worker.start()
        self._workers.append(worker)
        return worker

    async def api(self, name: str = "api") -> str:
        """Starts an HTTP API without keys, which stops with the deployment; returns its address."""
        process = ApiProcess(name, self.settings, self.directory)
        process.start()
        self._workers.append(process)
        await process.wait_ready()
        return process.ready_text

    def forget(self, worker: WorkerProcess) -> None:
        """Accepts that the process ended by itself."""
        self._workers.remove(worker)

    async def stop_workers(self) -> None:
        await asyncio.gather(*(worker.stop() for worker in self._workers if worker.running))

    def logs(self) -> str:
        """The logs of all workers."""
        return "\n".join(path.read_text(errors="replace") for path in sorted(self.directory.glob("*.log")))

    async def publish(self, *events: Event) -> None:
        """Publishes events in order, with a plain producer as chat services use."""
        producer = AIOKafkaProducer(**self.settings.cluster().client())
        await producer.start()
        try:
            sent = [
                await producer.send(self.topic(each.topic), each.bytes, each.key.encode(), headers=list(each.headers))
                for each in events
            ]
            await asyncio.gather(*sent)
        finally:
            await producer.stop()

    async def settled(self, within_s: float = 120.0) -> None:
        """Waits until everything published is processed: no lag, no waiting windows, an empty outbox."""
        deadline, behind = time.monotonic() + within_s, await self._behind()
        while behind:
            crashed = [worker.name for worker in self._workers if worker.exit_code not in (None, 0, -signal.SIGKILL)]
            assert not crashed, f"{crashed} ended by themselves\n{self.logs()[-4000:]}"
            assert time.monotonic() < deadline, f"not settled within {within_s:g} s: {behind}\n{self.logs()[-4000:]}"
            await asyncio.sleep(0.2)
            behind = await self._behind()

    async def _behind(self) -> str:
        if any((lags := await self.lags()).values()):
            return f"lags {lags}"
        if waiting := await self.waiting_windows():
            return f"windows {waiting}"
        if left := await self.count("outbox"):
            return f"{left} rows in the outbox"
        soon = "not_before <= now() OR reason = 'shared'"
        if parked := await self.fetch(f"SELECT request_id FROM parked WHERE NOT batched AND ({soon})"):
            return f"{len(parked)} parked requests whose time has come, or that wait to share a call"
        # Checked again: records in flight between the checks show up as lag.
        return f"lags {lags}" if any((lags := await self.lags()).values()) else ""

    async def remove(self) -> None:
        """Stops the workers, and deletes the topics, the database and the collection."""
        await self.stop_workers()
        admin = AIOKafkaAdminClient(**self.settings.cluster().client())
        await admin.start()
        try:
            own = [spec.name for spec in specs(self.settings.topics())]
            await admin.delete_topics([name for name in await admin.list_topics() if name in own])
        finally:
            await admin.close()
        async with self.qdrant() as client:
            await client.delete_collection(self.settings.qdrant_collection)
            await client.delete_collection(self.settings.qdrant_collection + SUFFIX)
        server, _, database = self.dsn.rpartition("/")
        await administer(f"{server}/postgres", f'DROP DATABASE IF EXISTS "{database}" WITH (FORCE)')


@asynccontextmanager
async def deployed(stack: EmbeddedStack, name: str, directory: Path, **chosen: Any) -> AsyncIterator[Deployment]:
    """A deployment under a unique name, removed at the end. Fails if a log contains the password."""
    unique = f"{name}-{uuid4().hex[:8]}"
    deployment = Deployment(await prepared(stack, unique, directory, **chosen), directory)
    try:
        yield deployment
    finally:
        await deployment.remove()
    assert PASSWORD not in deployment.logs()
