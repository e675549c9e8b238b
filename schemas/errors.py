"""The exception tree, by what the caller should do.

MemstreamError
├── Retryable        a dependency is down or busy: try again later, acknowledge nothing
│   └── Overloaded   this process has as many requests as it accepts: try again, here or elsewhere
├── Deferred         the request must wait for long: it is parked, acknowledged, and resumed at its time
├── Rejected         the input will never be accepted: it becomes a dead letter with the reason
└── Misconfigured    start-up stops: the message names the setting, the value and the remedy
"""

from datetime import datetime


class MemstreamError(Exception):
    """Root of all exceptions that memstream raises on purpose.

    `said` is a server's own error text, which may quote user data. It ends the message; `plain` is the message without it,
    for logs.
    """

    def __init__(self, message: str = "", said: str = "") -> None:
        super().__init__(f"{message}: {said}" if said else message)
        self.plain = message


class Retryable(MemstreamError):
    """A dependency failed temporarily; the work must be tried again, unacknowledged."""


class Overloaded(Retryable):
    """The process has more concurrent requests than it accepts. No dependency failed."""


class Deferred(MemstreamError):
    """Work that must wait longer than a record should stay unacknowledged: until `until`, for the `reason`, a short stable
    word (`budget`, `batch`, ...)."""

    def __init__(self, until: datetime, reason: str) -> None:
        super().__init__(f"{reason}: waits until {until.isoformat(timespec='seconds')}")
        self.until = until
        self.reason = reason


class Rejected(MemstreamError):
    """Input that can never be processed. `reason` is a short stable word for filters (`undecodable`, `invalid`, ...); the
    text has the details."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(reason, detail)  # the detail may quote the input
        self.reason = reason
        self.detail = detail


class Misconfigured(MemstreamError):
    """A setting or a dependency is wrong, and retries do not help."""
