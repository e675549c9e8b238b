"""A cluster under a schedule: group state, topics and their notifications."""

from collections.abc import Mapping

from aiokafka.errors import KafkaConnectionError
from faust.types import TP

from schemas.errors import Retryable
from streams.delivery.batch import Batch
from streams.delivery.fence import Fence
from streams.delivery.ledger import Checkpoint
from tests.fakes.changelog import Broker
from tests.fakes.fetcher import SourceLog, Topic

CHANGELOG = Topic("changelog")
FAILURES = {
    "to _committed": KafkaConnectionError,
    "from _committed": KafkaConnectionError,
    "earliest": KafkaConnectionError,
    "legible": KafkaConnectionError,
    **dict.fromkeys(("open", "read", "commit", "committed"), lambda: Retryable("broker away")),
}


class Cluster(Broker):
    """Source logs beside the changelog, and what the group thinks a worker owns. `done` are offsets whose outcome is stored."""

    def __init__(self, logs: dict[TP, SourceLog], origins: Mapping[TP, int], *, checkpoints: bool) -> None:
        super().__init__()
        self.logs = logs
        self.origins = origins
        self.checkpoints = checkpoints
        self.owned: set[TP] = set()
        self._done: dict[TP, set[int]] = {tp: set() for tp in logs}
        self.first: dict[TP, int] = {}

    @property
    def sources(self) -> list[TP]:
        return sorted(tp for tp in self.logs if tp.topic != CHANGELOG)

    def begin(self) -> None:
        """Starts at the current first offsets of the partitions; earlier records are ignored."""
        self.first = {tp: self.start(tp) for tp in self.sources}

    def done(self, tp: TP) -> set[int]:
        if not self.checkpoints:
            return self._done[tp]
        return {int(key.split()[1]) for key in self.rows(tp.partition) if key.startswith(tp.topic.encode() + b" ")}

    def finish(self, tp: TP, offsets: list[int]) -> None:
        """Somebody stored the outcome of these records."""
        self._done[tp].update(offsets)

    def commit(self, offsets: Mapping[TP, int]) -> None:
        self.committed.update({tuple(tp): end for tp, end in offsets.items()})

    def start(self, tp: TP) -> int:
        committed = self.committed.get(tuple(tp))
        return committed if committed is not None else self.origins.get(tp, self.logs[tp].beginning)

    def elsewhere(self, tp: TP, count: int) -> None:
        """Another worker, which owns the partition for now, takes it forward."""
        first = self.start(tp)
        end = min(first + count, self.logs[tp].end)
        visible = self.logs[tp].visible(first, end)
        if tp in self.owned or first >= end:
            return
        if self.checkpoints:
            self.owners[tp.partition] = object()
            batch = Batch(*tp, first, end, visible, Fence(), lambda: None)
            self.append(tp.partition, Checkpoint(rows_of(tp, visible), (), (batch,)))
        else:
            self.finish(tp, visible)
            self.commit({tp: end})

    def require_done(self, tp: TP, end: int) -> None:
        missing = set(self.logs[tp].visible(self.first[tp], end)) - self.done(tp)
        assert not missing, f"{tp} goes on at {end} without {sorted(missing)}"

    def check(self) -> None:
        for (topic, partition), end in self.committed.items():
            self.require_done(TP(topic, partition), end)
        for partition, log in self.log.items():
            assert len({key for key, _ in log}) == len(log), f"something was applied twice in partition {partition}"
            for tp in self.sources:
                if tp.partition == partition:
                    assert max(self.done(tp), default=-1) < self.start(tp), "kept without its offset"


def rows_of(tp: TP, offsets: list[int]) -> dict[bytes, bytes | None]:
    return {b"%s %d" % (tp.topic.encode(), offset): b"1" for offset in offsets}
