"""The frontier of a partition: the offset below which everything was finished, whatever order the work ended in."""

from collections import deque


class Extent:
    """A run of offsets handed to an agent, `first` inclusive to `end` exclusive; holes in the log lie inside an extent."""

    __slots__ = ("end", "finished", "first")

    def __init__(self, first: int, end: int) -> None:
        self.first = first
        self.end = end
        self.finished = False


class Frontier:
    """Advances only over finished work: what is committed leaves no hole behind it.

    Extents must be added in order and without gaps; they may be finished in any order, and again without effect.
    """

    def __init__(self, position: int) -> None:
        self.position = position
        self._end = position
        self._open: deque[Extent] = deque()

    def add(self, end: int) -> Extent:
        """The extent from the end of the last one to `end`. Raises ValueError when that would run backwards."""
        if end < self._end:
            raise ValueError(f"extent would end at {end}, before {self._end}")
        extent = Extent(self._end, end)
        self._open.append(extent)
        self._end = end
        return extent

    def finish(self, extent: Extent) -> int:
        """Marks an extent as finished and returns the frontier, advanced over every finished extent at its head."""
        extent.finished = True
        while self._open and self._open[0].finished:
            self.position = self._open.popleft().end
        return self.position

    @property
    def in_flight(self) -> int:
        """Extents handed out and not finished."""
        return sum(not extent.finished for extent in self._open)
