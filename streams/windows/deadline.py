"""The next time or offset at which a window must be processed without a new event."""

from typing import NamedTuple


class Deadline(NamedTuple):
    """Due at `at` (Unix seconds), or, with a held end, once the messages partition is read to `held_until_offset` and
    `held_until` (Unix seconds) has passed."""

    at: float | None
    held_until_offset: int | None
    held_until: float

    def is_due(self, read_to: int, now: float) -> bool:
        if self.at is not None and now >= self.at:
            return True
        return self.held_until_offset is not None and read_to >= self.held_until_offset and now >= self.held_until
