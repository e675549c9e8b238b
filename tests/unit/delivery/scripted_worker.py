"""One worker of a stage under a schedule: the real consumer, thread, recovery and checkpointer on a scripted broker.

What Faust and the group do around them is reduced to its awaits: a rebalance ends the epoch, joins, is assigned, recovers.
"""

import asyncio
from collections import deque
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

from faust.types import TP

from streams.delivery.app import StageApp
from streams.delivery.batch import Batch
from streams.delivery.checkpoint import Checkpointer
from streams.delivery.counters import Counters
from streams.delivery.fence import Fence
from streams.delivery.recovery import FencedRecovery
from tests.fakes.changelog import GatedChangelog, Gates
from tests.fakes.clock import unix_s
from tests.fakes.fetcher import ScriptedKafka
from tests.unit.delivery.scripted_cluster import CHANGELOG, Cluster, rows_of
from tests.unit.delivery.scripted_consumer import ScriptedConsumer, bare_app

QUEUED = 4  # StageApp's stream_buffer_maxsize
CLOSING_S = 6.0


class ScriptedRecovery(FencedRecovery):
    """The real recovery outside of a running table manager."""

    should_stop = False
    signal_recovery_start: Any = None

    def __init__(self, app: Any) -> None:
        self.app, self.tables = app, app.tables
        self.signal_recovery_start, self.completed = asyncio.Event(), asyncio.Event()
        self._generation_id = 0

    async def wait_for_stopped(self, event: asyncio.Event) -> bool:
        await event.wait()
        return False

    def _set_recovery_started(self) -> None:
        pass

    def _set_recovery_ended(self) -> None:
        pass

    def _is_changelog_tp(self, tp: TP) -> bool:
        return tp.topic == CHANGELOG


class ScriptedApp:
    """Restores, commits and starts epochs as the real stage does."""

    restore, settle, abandon = StageApp.restore, StageApp.settle, StageApp.abandon
    checkpoint_failed, _restart = StageApp.checkpoint_failed, StageApp._restart
    _start_task, _task_done = StageApp._start_task, StageApp._task_done

    def __init__(self, cluster: Cluster, gates: Gates) -> None:
        bare = bare_app()
        self.sensors, self.should_stop, self.checkpointer = bare.sensors, False, None
        self.conf = SimpleNamespace(id="stage", broker_request_timeout=5.0)
        self.loop = asyncio.get_running_loop()
        self.fence, self.counters, self.origins = Fence(), Counters(), cluster.origins
        self.crashes: list[BaseException] = []
        self.rebalancing, self.consumer_generation_id = False, 0
        self._checkpointing: asyncio.Task[None] | None = None
        self._errands: set[asyncio.Task[None]] = set()
        nothing = bare.tables.recovery.interrupt
        self.tables = SimpleNamespace(on_actives_ready=lambda: None, on_standbys_ready=lambda: None)
        self.tables.recovery = ScriptedRecovery(self)
        self.on_rebalance_complete = SimpleNamespace(send=nothing)
        self.flow_control = SimpleNamespace(resume=lambda: None)
        self._fetcher = SimpleNamespace(maybe_start=nothing)
        if cluster.checkpoints:
            self.checkpointer = Checkpointer(
                GatedChangelog(cluster, gates),
                self.fence,
                self.checkpoint_failed,
                counters=self.counters,
                clock=self.loop.time,
                now=unix_s,
            )

    def on_rebalance_end(self) -> None:
        self.rebalancing = False

    async def crash(self, error: BaseException) -> None:
        self.crashes.append(error)


class Committing(ScriptedConsumer):
    """Commits to the cluster, as far as the group takes it for the partitions' owner."""

    cluster: Cluster

    async def begin(self, tps: set[TP], idle: set[TP], origins: Mapping[tuple[str, int], int]) -> bool:
        begun = await super().begin(tps, idle, origins)
        for tp in tps if begun else ():
            start = self.positions.expected(tp)
            assert self.cluster.first[tp] <= start <= self.cluster.start(tp), f"{tp} begins at {start}"
        return begun

    async def _commit_offsets(self, offsets: Mapping[TP, int], start_new_transaction: bool = True) -> bool:
        generation = self.app.consumer_generation_id
        await self.gates.reach_point("commit offsets")
        if generation != self.app.consumer_generation_id or not self.cluster.owned >= offsets.keys():
            return False
        self.cluster.commit(offsets)
        self._committed_offset.update(offsets)
        return True


class ScriptedWorker:
    """One process: its fetcher's loop runs, and the schedule moves everything else."""

    def __init__(self, cluster: Cluster, max_poll_records: int = 500) -> None:
        self.cluster = cluster
        self.gates = Gates()
        self.app = ScriptedApp(cluster, self.gates)
        self.kafka = ScriptedKafka(cluster.logs, cluster.committed, self.gates, max_poll_records)
        self.consumer = Committing(self.app, self.kafka, self.gates, self.on_message)
        self.consumer.cluster = cluster
        self.app.consumer = self.app._consumer = self.consumer
        self.recovery = self.app.tables.recovery
        self.queue: deque[Batch] = deque()
        self.taken = asyncio.Event()
        self.hand: list[Batch] = []
        self.reached: dict[tuple[int, TP], int] = {}
        self.group = asyncio.Lock()
        self.tasks: set[asyncio.Task[Any]] = set()
        self.spawn(FencedRecovery._restart_recovery.fun(self.recovery))
        self.draining = self.spawn(self.consumer._drain_messages(self.app))

    def spawn(self, coroutine: Any) -> asyncio.Task[Any]:
        task = asyncio.create_task(coroutine)
        self.tasks.add(task)
        return task

    async def on_message(self, message: Any) -> None:
        while len(self.queue) >= QUEUED:
            self.taken.clear()
            await self.taken.wait()
        self.queue.append(message.value)

    async def rebalance(self, sources: set[TP]) -> None:
        async with self.group:
            self.kafka._subscription.begin_reassignment()
            self.app.rebalancing = True
            await self.consumer.end_epoch(CLOSING_S)
            self.consumer.stop_flow()
            self.queue.clear()
            self.taken.set()
            self.consumer.active.clear()
            self.cluster.owned = set()
            await self.gates.reach_point("join")
            changelogs = {TP(CHANGELOG, tp.partition) for tp in sources} & self.cluster.logs.keys()
            self.kafka.assign(sources | changelogs)
            self.cluster.owned = set(sources)
            self.app.consumer_generation_id += 1
            self.recovery._generation_id = self.app.consumer_generation_id
            self.recovery.signal_recovery_start.set()

    def restart_drain(self) -> None:
        """Restarts the drain; records that the thread has taken from the fetcher are dropped."""
        if self.consumer._thread.reading:
            self.draining.cancel()
            self.draining = self.spawn(self.consumer._drain_messages(self.app))

    def take(self) -> None:
        """The agent takes the next batch from its queue and, if it is of this epoch, applies it."""
        if not self.queue:
            return
        batch = self.queue.popleft()
        self.taken.set()
        if not batch.current:
            return
        self.check_order(batch)
        offsets = [record.offset for record in batch.records]
        if self.app.checkpointer is not None:
            self.app.checkpointer.record(batch, rows_of(TP(batch.topic, batch.partition), offsets), [])
        else:
            self.hand.append(batch)

    def check_order(self, batch: Batch) -> None:
        tp = TP(batch.topic, batch.partition)
        reached = self.reached.get((batch.epoch, tp))
        if reached is None:
            self.cluster.require_done(tp, batch.first)
        else:
            assert batch.first >= reached, f"a repetition: {batch} after {reached}"
            assert not self.cluster.logs[tp].visible(reached, batch.first), f"a hole: {batch} after {reached}"
        self.reached[batch.epoch, tp] = batch.end
        visible = self.cluster.logs[tp].visible(batch.first, batch.end)
        assert [record.offset for record in batch.records] == visible, batch

    def finish(self, which: int) -> None:
        """Stores the outcome of one of the batches in hand, whatever their order, and acks it."""
        if self.hand:
            batch = self.hand.pop(which % len(self.hand))
            tp = TP(batch.topic, batch.partition)
            self.cluster.finish(tp, [record.offset for record in batch.records])
            batch.ack()

    def check(self) -> None:
        assert self.app.crashes == []
        for task in self.tasks:
            if task.done() and not task.cancelled():
                task.result()

    async def die(self) -> None:
        """As by SIGKILL: its tasks have no further effects."""
        self.app.fence.shut()
        self.consumer._thread.end()
        checkpointer, checkpointing = self.app.checkpointer, self.app._checkpointing
        for task in [*self.tasks, *filter(None, (self.recovery._recovering, checkpointing)), *self.app._errands]:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)
        if checkpointer is not None:
            await checkpointer.abandon()
