"""The clock of a process: the time that the wiring passes to its services."""

from datetime import UTC, datetime


def now() -> datetime:
    return datetime.now(UTC)
