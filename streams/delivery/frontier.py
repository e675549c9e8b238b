"""The frontier of a partition: all records below this offset are finished, in whatever order the work ended."""

from collections import deque


class Extent:
    """A run of delivered offsets, `first` inclusive to `end` exclusive; holes in the log are inside extents."""

    __slots__ = ("end", "finished", "first")

    def __init__(self, first: int, end: int) -> None:
        self.first = first
        self.end = end
        self.finished = False


class Frontier:
    """Advances only over finished work, so a committed offset leaves no hole below it.

    Extents are added in order and without gaps. They may finish in any order, and repeatedly.
    """

    def __init__(self, position: int) -> None:
        self.position = position
        self._end = position
        self._open: deque[Extent] = deque()

    def add(self, end: int) -> Extent:
        """Adds the extent from the end of the last one to `end`. Raises ValueError if `end` is lower."""
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
        """The number of delivered and unfinished extents."""
        return sum(not extent.finished for extent in self._open)
