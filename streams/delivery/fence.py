"""The fence: which rebalance's work may still take effect.

    open ──close()──► closing ──shut()──► shut ──open()──► open (next epoch)

While open, batches of the epoch may be applied. While closing, nothing new is applied, but what was applied may still be
sent and committed. Once shut, work of the epoch changes nothing: somebody else may own its partitions.
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
        """No new work. Has no effect on a fence that is shut."""
        if self.phase is Phase.OPEN:
            self.phase = Phase.CLOSING

    def shut(self) -> None:
        """The epoch is over."""
        self.phase = Phase.SHUT

    def admits(self, epoch: int) -> bool:
        """Whether a batch of this epoch may be applied. Nothing may be awaited between this check and the change."""
        return self.phase is Phase.OPEN and epoch == self.epoch

    def holds(self, epoch: int) -> bool:
        """Whether what was applied in this epoch may still be sent and committed; to be asked again before every send."""
        return self.phase is not Phase.SHUT and epoch == self.epoch
