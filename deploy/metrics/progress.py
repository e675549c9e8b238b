"""Readiness by progress: a worker that holds partitions with lag and finishes nothing is not ready."""

import time
from collections.abc import Callable, Iterable
from typing import Protocol, TypeAlias

Place: TypeAlias = tuple[str, str, int]  # group, topic, partition


class Stage(Protocol):
    """The part of a streams.delivery.app.StageApp that is needed here."""

    conf: "Named"

    def lags(self) -> dict[tuple[str, int], int]: ...

    def frontiers(self) -> dict[tuple[str, int], int]: ...


class Named(Protocol):
    id: str


class Progress:
    """A partition is stuck if it has had lag for `stuck_s` seconds without its frontier moving. `clock` is monotonic, in
    seconds."""

    def __init__(self, stuck_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._stuck_s = stuck_s
        self._clock = clock
        self._stands: dict[Place, tuple[int, float]] = {}

    def sample(self, apps: Iterable[Stage]) -> None:
        """Samples the stages; call it regularly. Partitions that are not held any more are forgotten."""
        now, stands = self._clock(), dict[Place, tuple[int, float]]()
        for app in apps:
            frontiers = app.frontiers()
            for (topic, partition), lag in app.lags().items():
                place, at = (app.conf.id, topic, partition), frontiers.get((topic, partition), 0)
                was = self._stands.get(place)
                if lag:
                    stands[place] = was if was is not None and was[0] == at else (at, now)
        self._stands = stands

    def stuck(self) -> list[str]:
        """The stuck partitions, each with the time since when."""
        now = self._clock()
        return [
            f"{group}: {topic}[{partition}] has stood at {at} for {now - since:.0f} s"
            for (group, topic, partition), (at, since) in self._stands.items()
            if now - since >= self._stuck_s
        ]
