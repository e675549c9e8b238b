"""The exception tree, branched by what the caller should do.

MemstreamError
├── Retryable        something outside is down or busy: try again later, acknowledge nothing
│   └── Overloaded   this process has as much to answer as it takes on: try again, here or elsewhere
├── Deferred         this request must wait long: it is parked, acknowledged, and resumed at its time
├── Rejected         this input will never be accepted: it goes to the dead letters with its reason
└── Misconfigured    start-up stops: the message names the setting, the value and the remedy
"""

from datetime import datetime


class MemstreamError(Exception):
    """Root of everything memstream raises on purpose.

    `said` are a server's own words, which may quote what it was sent: they end the message, and `plain` is the message without
    them, as logs tell it.
    """

    def __init__(self, message: str = "", said: str = "") -> None:
        super().__init__(f"{message}: {said}" if said else message)
        self.plain = message


class Retryable(MemstreamError):
    """A dependency failed in a way that may pass; the work must be tried again, un-acknowledged."""


class Overloaded(Retryable):
    """More is asked of this process at a time than it takes on; nothing is out of order."""


class Deferred(MemstreamError):
    """Work that has to wait for longer than a record should stay un-acknowledged: until `until`, for the `reason`.

    `reason` is a short stable word (`budget`, `batch`, ...).
    """

    def __init__(self, until: datetime, reason: str) -> None:
        super().__init__(f"{reason}: waits until {until.isoformat(timespec='seconds')}")
        self.until = until
        self.reason = reason


class Rejected(MemstreamError):
    """Input that can never be processed.

    `reason` is a short stable word that operators can filter on (`undecodable`, `invalid`, ...); the text says the rest.
    """

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(reason, detail)  # which says what was wrong with the input, and may quote it
        self.reason = reason
        self.detail = detail


class Misconfigured(MemstreamError):
    """A setting or a dependency is wrong in a way that no retry mends."""
