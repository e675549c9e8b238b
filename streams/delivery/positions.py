"""Read positions of partitions, and whether fetched records continue there.

aiokafka's fetcher moves its position when records are drained, delivered or not. Each read therefore has the fetcher's
position before and after. A read that does not start at the expected position was drained around a rebalance or a seek and
is refused; the partition must be rewound. Jumps inside a read (transaction markers, compaction) come from the broker and
need no check.
"""

from typing import Any, NamedTuple

from streams.delivery.frontier import Extent, Frontier


class Read(NamedTuple):
    """Records drained from the fetcher: it stood at `start` before and at `end` after, control records included."""

    start: int
    end: int
    records: list[Any]


class Positions:
    """The expected position and the frontier of every partition of one epoch, by (topic, partition)."""

    def __init__(self) -> None:
        self._expected: dict[Any, int] = {}
        self._handed: dict[Any, int] = {}
        self._starts: dict[Any, int] = {}
        self._frontiers: dict[Any, Frontier] = {}

    def reset(self, positions: dict[Any, int]) -> None:
        """Starts an epoch at these offsets and forgets earlier ones."""
        self._expected = dict(positions)
        self._handed = dict(positions)
        self._starts = dict(positions)
        self._frontiers = {tp: Frontier(offset) for tp, offset in positions.items()}

    def clear(self) -> None:
        self.reset({})

    def __contains__(self, tp: Any) -> bool:
        return tp in self._expected

    def __iter__(self) -> Any:
        return iter(self._expected)

    def continues(self, tp: Any, read: Read) -> bool:
        """Whether the read starts where the partition is to be read next."""
        return self._expected.get(tp) == read.start

    def take(self, tp: Any, read: Read) -> Extent:
        """Moves the expected position past a read that continues, and opens its extent."""
        self._expected[tp] = read.end
        if read.records:
            self._handed[tp] = read.end
        return self._frontiers[tp].add(read.end)

    def finish(self, tp: Any, extent: Extent) -> None:
        """Finishes an extent. Does nothing for a partition that is no longer held."""
        if tp in self._frontiers:
            self._frontiers[tp].finish(extent)

    def expected(self, tp: Any) -> int:
        """The offset to read next: everything below was delivered, trailing control records included."""
        return self._expected[tp]

    def read_to(self, tp: Any, applied: int | None) -> int:
        """The offset up to which an agent has seen a partition, given `applied`, the end of the last batch that it applied.

        With an empty queue this is the expected position, which includes trailing control records. None: it applied nothing
        in this epoch.
        """
        if applied is None:
            applied = self._starts[tp]
        return self._expected[tp] if applied == self._handed[tp] else applied

    def committable(self, tp: Any) -> int | None:
        """The offset to commit, or None for a partition that is not held."""
        frontier = self._frontiers.get(tp)
        return frontier.position if frontier else None

    def lag(self) -> int:
        """The number of delivered offsets above the frontier, over all partitions."""
        return sum(self._expected[tp] - frontier.position for tp, frontier in self._frontiers.items())

    def in_flight(self) -> int:
        """Extents handed out and not finished, over all partitions."""
        return sum(frontier.in_flight for frontier in self._frontiers.values())
