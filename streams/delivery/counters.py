"""Counters of a stage's delivery since the process started, for logs and metrics."""

from msgspec import Struct


class Counters(Struct):
    """Counts; `*_s` are seconds.

    `jumps` are runs of offsets inside reads that carry no record (transaction markers, aborted records, compaction),
    `jumped_offsets` their sum. `rewinds` are reads that did not continue where the partition was left. `stale_batches` were
    handed out and not finished when their epoch ended: they are delivered again. `fenced` are checkpoints that the broker refused
    because another worker owns the partition.
    """

    epochs: int = 0
    batches: int = 0
    records: int = 0
    jumps: int = 0
    jumped_offsets: int = 0
    rewinds: int = 0
    stale_batches: int = 0
    checkpoints: int = 0
    checkpoint_rows: int = 0
    checkpoint_bytes: int = 0
    checkpoint_s: float = 0.0
    longest_checkpoint_s: float = 0.0
    fenced: int = 0
