"""A deployment of its own on a shared stack: topics under a prefix, a database, a Qdrant collection, its workers."""

import asyncio
import json
import signal
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from uuid import uuid4

from aiokafka import AIOKafkaProducer
from aiokafka.admin import AIOKafkaAdminClient

from deploy.embedded.stack import EmbeddedStack
from deploy.settings import Settings
from sinks.passages.vectors import SUFFIX
from streams.kafka.topics import specs
from tests.chaos.workers import ApiProcess, WorkerProcess
from tests.preparation import PASSWORD, administer, prepared
from tests.stores import Stores

T = TypeVar("T")


async def eventually(condition: Callable[[], Awaitable[T]], what: str, within_s: float = 60.0) -> T:
    """The condition's first true value. Fails at the deadline, saying what did not happen."""
    deadline = time.monotonic() + within_s
    while not (value := await condition()):
        assert time.monotonic() < deadline, f"not within {within_s:g} s: {what}"
        await asyncio.sleep(0.1)
    return value


class Event(NamedTuple):
    """What a chat service publishes: a dict is sent as JSON, bytes as they are, None as a tombstone."""

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
    """One deployment by its settings; workers write their logs and data into `directory`."""

    def __init__(self, settings: Settings, directory: Path) -> None:
        super().__init__(settings)
        self.directory = directory
        self._workers: list[WorkerProcess] = []

    async def worker(self, name: str = "worker", *, stages: Iterable[str] = (), **settings: Any) -> WorkerProcess:
        """A started worker that is ready. It is stopped with the deployment, if not before."""
        worker = self.starting(name, stages=stages, **settings)
        await worker.wait_ready()
        return worker

    def starting(self, name: str = "worker", *, stages: Iterable[str] = (), **settings: Any) -> WorkerProcess:
        """A worker that has just been started."""
        worker = WorkerProcess(name, self.settings.model_copy(update=settings), self.directory, stages)
        worker.start()
        self._workers.append(worker)
        return worker

    async def api(self, name: str = "api") -> str:
        """The address of an HTTP API without keys, which is stopped with the deployment."""
        process = ApiProcess(name, self.settings, self.directory)
        process.start()
        self._workers.append(process)
        await process.wait_ready()
        return process.said_when_ready

    def forget(self, worker: WorkerProcess) -> None:
        """That it ended by itself was meant."""
        self._workers.remove(worker)

    async def stop_workers(self) -> None:
        await asyncio.gather(*(worker.stop() for worker in self._workers if worker.running))

    def logs(self) -> str:
        """What all workers have logged."""
        return "\n".join(path.read_text(errors="replace") for path in sorted(self.directory.glob("*.log")))

    async def publish(self, *events: Event) -> None:
        """As a chat service does, with a plain producer; in order."""
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
        """Waits until everything published is processed: lags are zero, windows rest, the outbox is empty."""
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
        if parked := await self.fetch("SELECT request_id FROM parked WHERE NOT batched AND not_before <= now()"):
            return f"{len(parked)} parked requests whose time has come"
        # Looked at again: what was on its way between the looks shows up as lag.
        return f"lags {lags}" if any((lags := await self.lags()).values()) else ""

    async def remove(self) -> None:
        """Stops the workers and takes the topics, the database and the collection away again."""
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
    """A deployment under a name that nobody else has; removed in the end. Fails when a log has told the password."""
    unique = f"{name}-{uuid4().hex[:8]}"
    deployment = Deployment(await prepared(stack, unique, directory, **chosen), directory)
    try:
        yield deployment
    finally:
        await deployment.remove()
    assert PASSWORD not in deployment.logs()
