"""The parts of a stage's app that metrics use."""

from types import SimpleNamespace

from streams.delivery.counters import Counters
from streams.delivery.fence import Fence


class FakeStage:
    """Stands for streams.delivery.app.StageApp; `lags` by (topic, partition)."""

    def __init__(self, group: str, lags: dict[tuple[str, int], int]) -> None:
        self.conf = SimpleNamespace(id=group)
        self.counters = Counters()
        self.fence = Fence()
        self.behind = lags
        self.checkpointer = SimpleNamespace(stored_bytes=lambda: 4_096)

    def lags(self) -> dict[tuple[str, int], int]:
        return self.behind

    def frontiers(self) -> dict[tuple[str, int], int]:
        return dict.fromkeys(self.behind, 0)
