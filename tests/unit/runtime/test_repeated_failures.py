"""Of repeated warnings of a temporary failure, the log has one in thirty seconds."""

import logging
from io import StringIO
from typing import Any

import pytest

from deploy.runtime import repeated_failures
from deploy.runtime.log_format import TextFormatter
from deploy.runtime.repeated_failures import EVERY_S, RepeatedFailures
from schemas.errors import Retryable

ATTEMPT = "attempt %d on the record at %s[%d]@%d failed: %s"
REFUSED = "PostgreSQL failed while finding a parked request: connection refused"


class Log:
    """A log whose clock stands still until it is moved."""

    def __init__(self) -> None:
        self.now_s = 100.0
        self._written = StringIO()
        self._handler = logging.StreamHandler(self._written)
        self._handler.setFormatter(TextFormatter())
        self._handler.addFilter(RepeatedFailures(lambda: self.now_s))

    def write(self, level: int, text: str, *args: Any, error: BaseException | None = None) -> None:
        exc_info = (type(error), error, None) if error is not None else None
        self._handler.handle(logging.LogRecord("a.stage", level, __file__, 1, text, args, exc_info))

    def warn(self, text: str, *args: Any, error: BaseException | None = None) -> None:
        self.write(logging.WARNING, text, *args, error=error)

    @property
    def lines(self) -> list[str]:
        return [line.partition("a.stage: ")[2] for line in self._written.getvalue().splitlines() if "a.stage" in line]


@pytest.fixture
def log() -> Log:
    return Log()


def test_attempts_on_other_records_are_left_out_for_thirty_seconds_and_counted(log: Log) -> None:
    for number in range(500):
        log.warn(ATTEMPT, number, "memory.candidates", number % 4, number, Retryable(REFUSED))
    assert len(log.lines) == 1
    log.now_s += EVERY_S
    log.warn(ATTEMPT, 7, "memory.candidates", 0, 9, Retryable(REFUSED))
    assert log.lines[1:] == [
        f"attempt 7 on the record at memory.candidates[0]@9 failed: {REFUSED} (499 more since the last such line)"
    ]


@pytest.mark.parametrize(
    ("text", "args"),
    [
        (ATTEMPT, (1, "memory.commands", 0, 1, Retryable(REFUSED))),
        (ATTEMPT, (1, "memory.candidates", 0, 1, Retryable("Qdrant failed while searching: timed out"))),
        ("outbox sweep: %s", (Retryable(REFUSED),)),
    ],
    ids=["another topic", "another error", "other work"],
)
def test_another_failure_is_logged_at_once(log: Log, text: str, args: tuple[object, ...]) -> None:
    log.warn(ATTEMPT, 1, "memory.candidates", 0, 1, Retryable(REFUSED))
    log.warn(text, *args)
    assert len(log.lines) == 2


def test_other_lines_are_never_left_out(log: Log) -> None:
    for _ in range(3):
        log.warn("conversation %r ended, and lacks messages", "c")
        log.write(logging.ERROR, "expiry: %s", Retryable(REFUSED))
        log.write(logging.INFO, "ready: windows")
    assert len(log.lines) == 9


def test_a_library_that_cannot_connect_is_logged_once_with_its_traceback(log: Log) -> None:
    for _ in range(3):
        log.warn("Failed to restore the pool connection floor; retrying", error=ConnectionRefusedError(111, "refused"))
    assert log.lines == ["Failed to restore the pool connection floor; retrying"]


def test_no_more_failures_are_remembered_than_the_limit(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repeated_failures, "MAX_KEPT", 2)
    for topic in ("one", "two", "three", "one"):
        log.warn(ATTEMPT, 1, topic, 0, 1, Retryable(REFUSED))
    assert len(log.lines) == 4  # "one" was forgotten
    log.warn(ATTEMPT, 1, "three", 0, 1, Retryable(REFUSED))
    assert len(log.lines) == 4
