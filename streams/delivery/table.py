"""The table an agent sees: a Faust table of raw bytes whose changes leave at checkpoints."""

import faust

from streams.delivery.ledger import Ledger


class CheckpointedTable(faust.Table):
    """Registers the changelog with Faust (assignment, co-partitioning); rows live in the stage's checkpointer.

    Faust's own write path costs some 85 us a row and lets local state run ahead of the changelog. Reading and writing go
    through `partition(n)`: a ledger of one partition, changed only while a current batch is applied.
    """

    def partition(self, number: int) -> Ledger:
        """Raises KeyError for a partition that is not held."""
        ledger: Ledger = self.app.checkpointer[number]
        return ledger
