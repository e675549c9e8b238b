"""A worker monitors its stages from their start."""

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from deploy.metrics.progress import Progress
from deploy.runtime.worker import Worker
from deploy.settings import Settings
from schemas.errors import Retryable
from streams.apps import stage_app
from streams.kafka.cluster import ClusterSettings
from streams.kafka.topics import TopicSettings


class Waiting(Worker):
    """Has one stage, whose start never returns, as Faust's may when the brokers go away meanwhile."""

    def __init__(self, settings: Settings, directory: Path) -> None:
        super().__init__(settings)
        cluster = ClusterSettings(bootstrap_servers="127.0.0.1:9", datadir=directory)
        self.stage = stage_app("archive", cluster, TopicSettings(), {})
        self.begun = asyncio.Event()
        self.stage.start = self._never  # type: ignore[method-assign]

    async def _never(self) -> None:
        self.begun.set()
        await asyncio.Event().wait()

    async def _check(self) -> None:
        """There is nothing to talk to."""

    async def _wire(self, resources: AsyncExitStack) -> None:
        self._apps.append(self.stage)


class Running(Waiting):
    """Its stage is given its partitions at once."""

    async def _never(self) -> None:
        self.stage.fence.open()

    async def _require_no_rebuild(self) -> None:
        """There is none."""


@pytest.fixture
def worker(tmp_path: Path) -> Waiting:
    return Waiting(Settings(data_dir=tmp_path), tmp_path)


async def test_a_crashed_stage_stops_the_worker_even_if_its_start_never_returns(worker: Waiting):
    calls: list[str] = []
    running = asyncio.create_task(
        worker.run(asyncio.Event(), lambda: calls.append("ready"), lambda: calls.append("stopping"))
    )
    await worker.begun.wait()
    await worker.stage.crash(RuntimeError("the brokers are gone"))
    with pytest.raises(RuntimeError, match="the brokers are gone"):
        await running
    assert calls == ["stopping"]


async def test_a_worker_keeps_fetching_the_log_ends_of_its_partitions_despite_failures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("deploy.runtime.worker.ENDS_S", 0.01)
    worker, stop, requests = Running(Settings(data_dir=tmp_path), tmp_path), asyncio.Event(), asyncio.Queue[None]()

    async def ask() -> None:
        requests.put_nowait(None)
        raise Retryable("nobody answers")

    worker.stage.fetch_log_ends = ask  # type: ignore[method-assign]
    running = asyncio.create_task(worker.run(stop, lambda: None, lambda: None))
    async with asyncio.timeout(60):
        for _ in range(3):
            await requests.get()
    stop.set()
    await running


async def test_a_worker_with_a_stalled_partition_is_not_ready_and_names_the_partition(worker: Waiting):
    now = [1_000.0]
    worker._apps.append(worker.stage)
    worker._progress = Progress(60.0, lambda: now[0])
    worker._stands = True
    worker.stage.fence.open()
    worker.stage.lags = lambda: {("chat.messages", 3): 5}  # type: ignore[method-assign]
    worker.stage.frontiers = lambda: {("chat.messages", 3): 10}  # type: ignore[method-assign]
    await worker._sample_metrics()
    assert worker._not_ready() == []
    now[0] += 61.0
    await worker._sample_metrics()
    assert worker._not_ready() == ["memstream-archive: chat.messages[3] has stood at 10 for 61 s"]
