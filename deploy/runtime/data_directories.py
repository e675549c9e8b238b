"""A directory for each worker process of a machine: the first free one, so that a restarted worker finds its stores."""

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


@contextmanager
def claimed_slot(directory: Path) -> Iterator[Path]:
    """Claims the first of `directory`/0, /1, ... that no living process holds, until the block or the process ends.

    Deletes expired stores in it and in unclaimed directories.
    """
    slots = (directory / str(number) for number in itertools.count())
    slot, lock = next((slot, lock) for slot in slots if (lock := slot_lock(slot)) is not None)
    with lock:
        remove_unheld(slot, {})
        yield slot


def slot_lock(slot: Path) -> IO[bytes] | None:
    """The lock of the slot, held while the file is open; None if another process holds it. The kernel releases a dead
    process's lock."""
    slot.mkdir(parents=True, exist_ok=True)
    lock = (slot / LOCK).open("ab")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.close()
        return None
    return lock


def remove_unheld(slot: Path, held: Mapping[str, Collection[int]]) -> None:
    """Deletes expired stores, which may contain data erased since: in the claimed slot those of partitions not `held` (by
    stage), and all in unclaimed slots. Call it on the event loop, which opens stores."""
    remove_old_stores(slot, held)
    for other in slot.parent.iterdir():
        if other.name.isdecimal() and other != slot and (theirs := slot_lock(other)) is not None:
            with theirs:
                remove_old_stores(other, {})


def remove_old_stores(slot: Path, held: Mapping[str, Collection[int]]) -> None:
    for stage in slot.glob(f"{TABLES}/*"):
        remove_old(stage, TRUSTED_S, held.get(stage.name, ()))
