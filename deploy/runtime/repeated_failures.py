"""Leaves out log lines that repeat a temporary failure: each record that waits for a server logs its attempts."""

import logging
import time
from collections.abc import Callable, Iterator
from typing import Final

from schemas.errors import Retryable

EVERY_S: Final = 30.0
MAX_KEPT: Final = 1_000  # failures; the oldest leave first

Failure = tuple[str, ...]


class RepeatedFailures(logging.Filter):
    """Lets through one warning of a temporary failure in EVERY_S. Warnings are the same failure if they agree in logger, message,
    texts and error; numbers and positions in a topic may differ. `left_out` of the next one is the number of those between."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._shown_at: dict[Failure, float] = {}
        self._left_out: dict[Failure, int] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        failure = failure_of(record)
        if failure is None:
            return True
        now = self._clock()
        if now - self._shown_at.get(failure, -EVERY_S) < EVERY_S:
            self._left_out[failure] = self._left_out.get(failure, 0) + 1
            return False
        record.left_out = self._left_out.pop(failure, 0)
        self._shown_at.pop(failure, None)  # so that it becomes the newest
        self._shown_at[failure] = now
        if len(self._shown_at) > MAX_KEPT:
            oldest = next(iter(self._shown_at))
            del self._shown_at[oldest]
            self._left_out.pop(oldest, None)
        return True


def failure_of(record: logging.LogRecord) -> Failure | None:
    """What the record has in common with its repetitions; None if it is no warning of a temporary failure."""
    if record.levelno != logging.WARNING:
        return None
    errors = [str(each) for each in errors_of(record)]
    if not errors:
        return None
    texts = [each for each in record.args or () if isinstance(each, str)]
    return (record.name, str(record.msg), *texts, *errors)


def errors_of(record: logging.LogRecord) -> Iterator[BaseException]:
    """The temporary failures among the arguments; connections that libraries could not make."""
    yield from (each for each in record.args or () if isinstance(each, Retryable))
    if record.exc_info and isinstance(record.exc_info[1], OSError):
        yield record.exc_info[1]
