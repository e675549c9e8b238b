"""Garbage collection of a worker: never for imported modules, seldom for later objects."""

import gc
from typing import Final

# New containers between two collections of the youngest generation. Python's default of 700 is reached several times per
# batch of 4,000 records, 20,000 in every third batch; nearly all of these objects are freed with their batch anyway.
YOUNG: Final = 100_000


def collect_seldom() -> None:
    """Freezes existing objects; call it once everything is imported and wired. A full collection of them takes a fifth of a
    second."""
    gc.collect()
    gc.freeze()
    _, *older = gc.get_threshold()
    gc.set_threshold(YOUNG, *older)
