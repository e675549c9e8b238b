"""A directory for each worker process on a machine: the first free one, so that a worker that comes back finds its stores."""

import fcntl
import itertools
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from streams.delivery.ledger import TRUSTED_S
from streams.delivery.store import remove_old

LOCK = ".lock"
TABLES = "tables"
OLD_STORES_S = 600.0  # between looks for stores of partitions that others hold by now


@contextmanager
def claimed(directory: Path) -> Iterator[Path]:
    """The first of `directory`/0, /1, ... that no living process has claimed, until the `with` or the process ends.

    Stores in it and in those that nobody has claimed are removed once they are too old to be of use.
    """
    slots = (directory / str(number) for number in itertools.count())
    slot, lock = next((slot, lock) for slot in slots if (lock := locked(slot)) is not None)
    with lock:
        remove_unheld(slot, {})
        yield slot


def locked(slot: Path) -> IO[bytes] | None:
    """The slot's lock, held while the file is open; None when another process has it. The kernel lets go of a dead one's."""
    slot.mkdir(parents=True, exist_ok=True)
    lock = (slot / LOCK).open("ab")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.close()
        return None
    return lock


def remove_unheld(slot: Path, held: Mapping[str, Collection[int]]) -> None:
    """Removes stores that are too old to be of use, which may say what was erased since: of a claimed slot all but those of the
    partitions that are `held`, by stage, and all in slots that nobody has claimed. For the event loop, as it opens stores."""
    remove_old_stores(slot, held)
    for other in slot.parent.iterdir():
        if other.name.isdecimal() and other != slot and (theirs := locked(other)) is not None:
            with theirs:
                remove_old_stores(other, {})


def remove_old_stores(slot: Path, held: Mapping[str, Collection[int]]) -> None:
    for stage in slot.glob(f"{TABLES}/*"):
        remove_old(stage, TRUSTED_S, held.get(stage.name, ()))
