"""How a worker collects cyclic garbage: what was imported never, what comes later seldom."""

import gc
from typing import Final

# Containers made and not gone between two collections. Python's 700 come several times in a batch of 4,000 records, 20,000 in
# every third one, and nearly all they go through is of that batch and goes with it by itself.
YOUNG: Final = 100_000


def collect_seldom() -> None:
    """To be called once everything is imported and stands: going through it all again takes a fifth of a second each time."""
    gc.collect()
    gc.freeze()
    _, *older = gc.get_threshold()
    gc.set_threshold(YOUNG, *older)
