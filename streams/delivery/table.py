"""The table an agent sees: a Faust table of raw bytes whose changes leave at checkpoints."""

import faust


class CheckpointedTable(faust.Table):
    """Registers the changelog with Faust (assignment, co-partitioning); rows live in the stage's checkpointer.

    Faust's own write path costs some 85 us a row and lets local state run ahead of the changelog. Rows are read and written
    through the checkpointer's ledgers, one a partition, while a current batch is applied.
    """
