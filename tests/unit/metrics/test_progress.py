"""A worker with a constant lag logs the partition."""

from types import SimpleNamespace

from deploy.metrics.progress import Progress

TP = ("memory.extraction-requests", 3)


class Stage:
    def __init__(self) -> None:
        self.conf = SimpleNamespace(id="memstream-extraction")
        self.lag, self.at = 5, 10
        self.held = True

    def lags(self) -> dict[tuple[str, int], int]:
        return {TP: self.lag} if self.held else {}

    def frontiers(self) -> dict[tuple[str, int], int]:
        return {TP: self.at} if self.held else {}


class Watched:
    """A stage that is looked at once a second."""

    def __init__(self) -> None:
        self.now, self.stage = 1_000.0, Stage()
        self.progress = Progress(60.0, lambda: self.now)

    def passed(self, seconds: int, moved: int = 0) -> list[str]:
        for _ in range(seconds):
            self.progress.sample([self.stage])  # type: ignore[list-item]
            self.now += 1
            self.stage.at += moved
        return self.progress.stuck()


def test_a_stalled_partition_with_a_lag_is_reported_with_its_position_and_duration():
    watched = Watched()
    assert watched.passed(59) == []
    assert watched.passed(1) == ["memstream-extraction: memory.extraction-requests[3] has stood at 10 for 60 s"]


def test_an_advancing_partition_is_not_stalled_however_large_its_lag():
    assert Watched().passed(300, moved=1) == []


def test_a_partition_without_a_lag_is_not_stalled_however_long_its_position_stays():
    watched = Watched()
    watched.stage.lag = 0
    assert watched.passed(300) == []
    watched.stage.lag = 1
    assert watched.passed(59) == []  # the time counts from when there was something to do


def test_a_partition_that_advances_again_is_no_longer_stalled():
    watched = Watched()
    assert watched.passed(100) != []
    watched.stage.at += 1
    assert watched.passed(1) == []


def test_a_revoked_partition_is_no_longer_tracked_as_stalled():
    watched = Watched()
    assert watched.passed(100) != []
    watched.stage.held = False
    assert watched.passed(1) == []
    watched.stage.held = True
    assert watched.passed(30) == []
