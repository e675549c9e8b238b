"""A cluster with four partitions of two topics, and the scheduled actions on its worker."""

import asyncio
from collections.abc import Iterable

from faust.types import TP

from tests.fakes.clock import settled
from tests.fakes.fetcher import ABORTED, COMPACTED, MARKER, RECORD, UNPARSABLE, SourceLog, Topic
from tests.unit.delivery.scripted_cluster import CHANGELOG, FAILURES, Cluster
from tests.unit.delivery.scripted_worker import ScriptedWorker

ENDED = TP(Topic("ended"), 0)
MESSAGES, OTHER, LATER = (TP(Topic("messages"), partition) for partition in range(3))
IDLE_S = 0.06  # more than the consumer sleeps when it holds nothing
SOURCES = [MESSAGES, OTHER, ENDED, LATER]
ASSIGNMENTS = [set(SOURCES), {MESSAGES, ENDED}, {OTHER}, set(), {MESSAGES, ENDED, LATER}]
PATTERNS = {
    "records": [RECORD] * 3,
    "one": [RECORD],
    "committed": [RECORD, RECORD, MARKER],
    "aborted": [ABORTED, ABORTED, MARKER],
    "compacted": [RECORD, COMPACTED, COMPACTED, RECORD],
    "unparsable": [RECORD, MARKER, UNPARSABLE, RECORD],
}


def cluster(*, checkpoints: bool) -> Cluster:
    """MESSAGES and OTHER are committed before their origins count, ENDED starts at its origin, LATER where retention left it."""
    logs = {
        MESSAGES: SourceLog(*PATTERNS["records"]),
        ENDED: SourceLog(*PATTERNS["records"], *PATTERNS["committed"]),
        OTHER: SourceLog(),
        LATER: SourceLog(*PATTERNS["compacted"], beginning=2),
        **{TP(CHANGELOG, partition): SourceLog(RECORD, MARKER) for partition in range(3)},
    }
    made = Cluster(logs, {ENDED: 2, MESSAGES: 3, OTHER: 2}, checkpoints=checkpoints)
    made.commit({MESSAGES: 0, OTHER: 0})
    made.begin()
    made.elsewhere(MESSAGES, 1)
    return made


class World:
    """The cluster and its worker, which may be killed and followed by another one."""

    def __init__(self, *, checkpoints: bool, max_poll_records: int) -> None:
        self.cluster = cluster(checkpoints=checkpoints)
        self.max_poll_records = max_poll_records
        self.worker = ScriptedWorker(self.cluster, max_poll_records)

    async def step(self, what: str, which: int) -> None:
        worker, fetcher, tp = self.worker, self.worker.kafka._fetcher, SOURCES[which % len(SOURCES)]
        match what:
            case "produce":
                self.cluster.logs[tp].kinds += list(PATTERNS.values())[which % 5]
            case "produce unparsable":
                self.cluster.logs[tp].kinds += PATTERNS["unparsable"]
            case "fetch":
                self.fetch(1 + which)
            case "request":
                fetcher.request()
            case "answer":
                fetcher.answer(which, 4)
            case "find positions":
                fetcher.find_positions(lambda tp: self.cluster.committed.get(tuple(tp)))
            case "pass":
                worker.gates.let_pass(which // 4)
            case "go":
                await self.go(2 + which)
            case "work":
                for _ in range(2):
                    self.fetch(1 + which)
                    await self.go(4)
                    worker.take()
                    worker.take()
                    worker.finish(which)
            case "fail":
                worker.gates.fail(FAILURES)
            case "take":
                for _ in range(1 + which % 3):
                    worker.take()
                    await settled(2)
            case "finish":
                worker.finish(which)
            case "save":
                if worker.app.checkpointer is not None:
                    worker.app.checkpointer._start_due()
                else:
                    worker.spawn(worker.consumer.force_commit())
            case "rebalance":
                worker.spawn(worker.rebalance(ASSIGNMENTS[which % len(ASSIGNMENTS)]))
            case "expel":
                self.cluster.owned = set()
            case "elsewhere":
                self.cluster.elsewhere(tp, 1 + which // 2)
            case "restart drain":
                worker.restart_drain()
            case "kill":
                await worker.die()
                self.cluster.owned = set()
                self.worker = ScriptedWorker(self.cluster, self.max_poll_records)
            case "time":
                await asyncio.sleep((0.1, 2.0, 7.0)[which % 3])
        await settled(12)

    def fetch(self, count: int) -> None:
        fetcher = self.worker.kafka._fetcher
        fetcher.request()
        while fetcher.in_flight:
            fetcher.answer(0, count)

    async def go(self, rounds: int) -> None:
        """Everything that waits goes on, and what it does next, and so on."""
        for _ in range(rounds):
            for _ in self.worker.gates.waiting:
                self.worker.gates.let_pass()
            await asyncio.sleep(IDLE_S)

    def check(self) -> None:
        self.cluster.check()
        self.worker.check()

    async def flow(self, rounds: int) -> None:
        """Everything goes as it should for a while."""
        self.worker.gates.open = True
        while self.worker.gates.waiting:
            self.worker.gates.let_pass()
        for number in range(rounds):
            await self.step("find positions", 0)
            self.fetch(5)
            await settled()
            for which in range(6):
                await self.step("take", 2)
                self.worker.finish(which)
            await self.step("save", 0)
            if number % 3 == 0:
                await asyncio.sleep(0.1)
            self.check()

    async def read_to_the_end(self, tps: Iterable[TP]) -> None:
        for _ in range(40):
            if all(self.cluster.start(tp) == self.cluster.logs[tp].end for tp in tps):
                break
            await self.flow(3)
        ends = {tp: self.cluster.logs[tp].end for tp in tps}
        assert {tp: self.cluster.start(tp) for tp in tps} == ends, "a lag is left"

    async def end_well(self) -> None:
        """What is held is read to its end without another epoch's help; then everything is assigned once more.

        A read that was lost at a log's very end is missed when the next record comes.
        """
        await self.flow(3)
        await asyncio.sleep(15.0)
        if self.worker.app.fence.admits(self.worker.app.fence.epoch):
            for tp in self.cluster.owned:
                self.cluster.logs[tp].kinds.append(RECORD)
            await self.read_to_the_end(self.cluster.owned)
        await self.step("rebalance", 0)
        await asyncio.sleep(10.0)
        await self.read_to_the_end(SOURCES)
        assert self.worker.consumer.frontier_lag == 0
        await self.worker.die()
