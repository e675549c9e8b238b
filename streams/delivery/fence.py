"""The fence: decides which epoch's work may still take effect.

    open ──close()──► closing ──shut()──► shut ──open()──► open (next epoch)

While open, batches of the epoch may be applied. While closing, nothing new is applied, but applied work may still be sent
and committed. Once shut, work of the epoch changes nothing: another worker may own its partitions.
"""

from enum import Enum


class Phase(Enum):
    OPEN = "open"
    CLOSING = "closing"
    SHUT = "shut"


class Fence:
    """One per consumer. Epochs count from 1; 0 is the time before the first assignment."""

    def __init__(self) -> None:
        self.epoch = 0
        self.phase = Phase.SHUT

    def open(self) -> int:
        """Starts the next epoch and returns it."""
        self.epoch += 1
        self.phase = Phase.OPEN
        return self.epoch

    def close(self) -> None:
        """Refuses new work. Has no effect on a shut fence."""
        if self.phase is Phase.OPEN:
            self.phase = Phase.CLOSING

    def shut(self) -> None:
        """Ends the epoch."""
        self.phase = Phase.SHUT

    def admits(self, epoch: int) -> bool:
        """Whether a batch of this epoch may be applied. Do not await between this check and the change."""
        return self.phase is Phase.OPEN and epoch == self.epoch

    def holds(self, epoch: int) -> bool:
        """Whether applied work of this epoch may still be sent and committed. Check again before every send."""
        return self.phase is not Phase.SHUT and epoch == self.epoch
